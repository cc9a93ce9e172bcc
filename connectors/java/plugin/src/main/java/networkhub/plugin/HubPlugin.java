package networkhub.plugin;

import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import java.io.IOException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import networkhub.HubException;
import networkhub.connector.JoinDecision;
import networkhub.model.Punishment;

/**
 * The plugin, whatever the server software: what a jar's listeners ask and tell. While there is no address and no key it changes
 * nothing. Thread-safe; no method but {@link #stop} waits for the network.
 */
public final class HubPlugin {
    private static final long STOP_SECONDS = 9;
    static final int OBSERVED_LOGINS = 1_000;

    private final Platform platform;
    private final Map<String, String> environment;
    private final Texts texts = new Texts();
    /** The latest ones: on BungeeCord nobody tells of a login that failed. */
    private final Map<UUID, CompletableFuture<JoinDecision>> observedLogins = Collections.synchronizedMap(new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<UUID, CompletableFuture<JoinDecision>> eldest) {
            return size() > OBSERVED_LOGINS;
        }
    });
    private final Commands commands;
    private volatile PluginConfig config;
    private volatile Connection connection;
    private ScheduledExecutorService thread;

    /** A plugin that is not started. */
    public HubPlugin(Platform platform) {
        this(platform, System.getenv());
    }

    HubPlugin(Platform platform, Map<String, String> environment) {
        this.platform = platform;
        this.environment = environment;
        commands = new Commands(this, platform, texts);
    }

    /** Version of the plugin. */
    public static String version() {
        String version = HubPlugin.class.getPackage().getImplementationVersion();
        return version == null ? "dev" : version;
    }

    /** Reads the settings and begins to connect. */
    public synchronized void start() {
        config = PluginConfig.read(platform.folder(), platform.kind(), environment);
        platform.configured(config);
        List<String> missing = Links.missing();
        if (missing != null && !missing.isEmpty()) {
            platform.log(WARNING, "This version of the server lacks what the plugin uses: " + String.join("; ", missing));
        }
        if (!config.isComplete()) {
            platform.log(INFO, "Set url and key in " + platform.folder().resolve("config.properties") + ", then /hub reload.");
            return;
        }
        ScheduledThreadPoolExecutor made = new ScheduledThreadPoolExecutor(1, task -> {
            Thread worker = new Thread(task, "network-hub");
            worker.setDaemon(true);
            return worker;
        });
        made.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        thread = made;
        try {
            Connection opened = new Connection(platform, texts, config, thread);
            // First, so that whoever joins from now on is told to it.
            connection = opened;
            opened.start();
        } catch (IllegalArgumentException wrong) {
            platform.log(WARNING, "The settings are wrong: " + wrong.getMessage());
            thread.shutdownNow();
            return;
        }
        if (config.observes()) {
            platform.log(INFO, "The plugin only observes (mode=observe): it changes nothing and reports differences once a day.");
            thread.scheduleWithFixedDelay(this::reportDifferences, 1, 1, TimeUnit.DAYS);
        }
        new Doctor(platform, connection).run().thenAccept(findings -> findings.stream()
                .filter(finding -> finding.level() == Finding.Level.PROBLEM && !finding.subject().equals(Doctor.LINKS))
                .forEach(finding -> platform.log(WARNING, finding.subject() + ": " + finding.detail())));
    }

    /** Tells the hub that the server is offline; waits for some seconds at most. Afterwards it may be started again. */
    public synchronized void stop() {
        Connection stopped = connection;
        forget();
        if (stopped != null) end(stopped);
    }

    private void forget() {
        connection = null;
        texts.use(null);
        observedLogins.clear();
    }

    private void end(Connection stopped) {
        if (stopped.observes()) reportDifferences(stopped);
        try {
            stopped.stop().get(STOP_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException | java.util.concurrent.ExecutionException away) {
            platform.log(INFO, "The hub could not be told that the server stops; it notices by itself.");
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        thread.shutdownNow();
    }

    /** Reads the settings again, and connects with them. */
    public void reload() {
        restart();
        platform.players().keySet().forEach(platform::permissionsChanged);
    }

    private synchronized void restart() {
        Connection before = connection;
        // It answers until the next one does, so that bans, mutes and maintenance hold meanwhile.
        if (before != null) end(before);
        try {
            start();
        } finally {
            if (connection == before) forget();
        }
    }

    /** The settings as they were read last. */
    PluginConfig config() {
        return config;
    }

    /** The connection; empty while there is no address or no key. */
    Optional<Connection> connection() {
        return Optional.ofNullable(connection);
    }

    /** Texts in the players' languages. */
    public Texts texts() {
        return texts;
    }

    /** The commands to be registered. */
    public List<HubCommand> commands() {
        return commands.all();
    }

    /** True if the plugin chooses the players' servers, on a proxy. */
    public boolean routes() {
        Connection current = connection;
        return current != null && !current.observes() && platform.kind().can(Capability.ROUTING);
    }

    /**
     * Answers whether a player may log in, and loads them. Completes within some seconds, also while the hub is away; never fails.
     *
     * @param ip the player's address, or null
     */
    public CompletableFuture<Verdict> preLogin(UUID player, String name, String ip) {
        Connection current = connection;
        if (current == null) return CompletableFuture.completedFuture(Verdict.ALLOWED);
        CompletableFuture<JoinDecision> decision = current.hub.checkJoin(player, name, isLocal(ip) ? null : ip);
        if (current.observes()) {
            observedLogins.put(player, decision);
            return CompletableFuture.completedFuture(Verdict.ALLOWED);
        }
        return decision.handle((decided, failure) -> {
            if (failure != null) return new Verdict(texts.get(player, "login.not-verified"));
            return verdict(current, player, name, decided);
        });
    }

    /** An address of this machine is that of a proxy which forwards none: a ban of it would keep everybody out. */
    private static boolean isLocal(String ip) {
        return ip != null && (ip.startsWith("127.") || ip.equals("::1") || ip.equals("0:0:0:0:0:0:0:1"));
    }

    private Verdict verdict(Connection current, UUID player, String name, JoinDecision decision) {
        if (current.hasPunishments && !decision.allowed()) {
            return new Verdict(decision.ban() == null
                    ? texts.get(player, "login.not-verified")
                    : new Punished(texts, player, decision.ban()).text("login.banned"));
        }
        boolean isKeptOut = current.settings.isMaintenance() && !current.settings.isOnMaintenanceList(player, name)
                && !current.hub.permissions().has(player, "network-hub.maintenance.join");
        return isKeptOut ? new Verdict(texts.get(player, "login.maintenance")) : Verdict.ALLOWED;
    }

    /** True if the hub's answer and the server's own decision about logins are compared. */
    public boolean observes() {
        Connection current = connection;
        return current != null && current.observes();
    }

    /** Tells how a login ended by the decision of the server and its other plugins, to be compared. */
    public void loginDecided(UUID player, String name, boolean isAllowed) {
        Connection current = connection;
        CompletableFuture<JoinDecision> decision = observedLogins.remove(player);
        if (current == null || decision == null) return;
        decision.thenAccept(decided -> {
            if (decided.reason() == JoinDecision.Reason.NOT_VERIFIED) return;
            current.observer.compared(1);
            if (decided.allowed() == isAllowed) return;
            current.observer.differs(isAllowed ? Observer.Difference.HUB_REFUSES : Observer.Difference.SERVER_REFUSES, name);
        });
    }

    /** A player is in the game. */
    public void joined(UUID player, String name) {
        Connection current = connection;
        if (current == null) return;
        current.joined(player, name);
        if (!current.observes()) return;
        current.comparePermissions(player);
        current.compareMoney(player);
    }

    /** A player is no longer online. */
    public void left(UUID player) {
        Connection current = connection;
        if (current == null) return;
        current.left(player);
    }

    /** Money of the players who are here; empty where the hub does not answer it. */
    public Optional<Purses> purses() {
        Connection current = connection;
        return current == null ? Optional.empty() : Optional.ofNullable(current.purses);
    }

    /** True while a player's data is not here, so that nothing of it may change. */
    public boolean isFrozen(UUID player) {
        Connection current = connection;
        return current != null && current.isFrozen(player);
    }

    /** True if inventories or the like move with players. */
    public boolean movesPlayerState() {
        Connection current = connection;
        return current != null && current.hasPlayerState();
    }

    /** True if PlaceholderAPI is to show values of the hub. */
    public boolean hasPlaceholders() {
        Connection current = connection;
        return current != null && current.hasPlaceholders;
    }

    /** Value of a placeholder for a player, or for nobody if that is null; null if there is none of this name. From memory. */
    public String placeholder(UUID player, String name) {
        Connection current = connection;
        return current == null ? null : current.placeholder(player, name);
    }

    /** The hub's answer about a permission; null if it says nothing, and then the server decides. */
    public Boolean permission(UUID player, String node) {
        Connection current = connection;
        return current == null || !current.hasPermissions ? null : current.hub.permissions().check(player, node);
    }

    /** True if the hub answers permissions. */
    public boolean answersPermissions() {
        Connection current = connection;
        return current != null && current.hasPermissions;
    }

    /** The text for a player whom a known ban keeps out; null if there is none. */
    public String banText(UUID player) {
        Connection current = connection;
        if (current == null || !current.hasPunishments) return null;
        return current.hub.punishments().ban(player)
                .map(ban -> new Punished(texts, player, ban).text("login.banned")).orElse(null);
    }

    /** All permissions of a player that the hub knows; null if it does not answer permissions, or knows nothing yet. */
    public Map<String, Boolean> permissions(UUID player) {
        Connection current = connection;
        if (current == null || !current.hasPermissions) return null;
        var known = current.hub.permissions().get(player);
        return known == null ? null : known.permissions();
    }

    /** The first server of a player. Only where {@link #routes}; completes within some seconds and never fails. */
    public CompletableFuture<Route> firstServer(UUID player, String name) {
        return routed(player, current -> current.router.first(player, name));
    }

    /** Another server for a player who was refused by one. Only where {@link #routes}; completes within some seconds and never fails. */
    public CompletableFuture<Route> nextServer(UUID player, String name, String failed) {
        return routed(player, current -> current.router.next(player, name, failed));
    }

    private CompletableFuture<Route> routed(UUID player, java.util.function.Function<Connection, CompletableFuture<Route>> route) {
        Connection current = connection;
        Route none = Route.none(texts.get(player, "route.none"));
        if (current == null) return CompletableFuture.completedFuture(none);
        return route.apply(current).exceptionally(failure -> none);
    }

    /** The same at once, from what is known of the servers, for events that cannot wait. */
    public Route nextKnownServer(UUID player, String failed) {
        Connection current = connection;
        return current == null ? Route.none(texts.get(player, "route.none")) : current.router.nextKnown(player, failed);
    }

    /**
     * Takes a line of chat, and returns true if the server must not show it: the player is muted, or it goes through the hub to all
     * servers and comes back as a broadcast. While the hub is away the server shows it as usual.
     */
    public boolean takesChat(UUID player, String name, String message) {
        Connection current = connection;
        if (current == null) return false;
        Optional<Punishment> mute = current.hub.punishments().mute(player);
        if (current.observes()) {
            if (mute.isPresent()) current.observer.differs(Observer.Difference.HUB_MUTES, name);
            return false;
        }
        if (isSilenced(player)) return true;
        if (!current.settings.isChatShared() || !current.hub.status().isConnected()) return false;
        current.hub.sendChat(player, name, message).exceptionally(failure -> {
            HubException error = HubException.of(failure);
            platform.send(player, error.isTransient()
                    ? texts.get(player, "command.away")
                    : texts.get(player, "chat.rejected", "reason", error.getMessage()));
            return null;
        });
        return true;
    }

    /** True if a player may not chat; tells them why. */
    public boolean isSilenced(UUID player) {
        Connection current = connection;
        if (current == null || !current.hasPunishments) return false;
        Optional<Punishment> mute = current.hub.punishments().mute(player);
        if (mute.isPresent()) {
            platform.send(player, new Punished(texts, player, mute.get()).text("chat.muted"));
        } else if (current.hub.punishments().isMuted(player)) {
            platform.send(player, texts.get(player, "chat.unchecked"));
        } else {
            return false;
        }
        return true;
    }

    /** Answers how clients list the network, on a proxy; null leaves the proxy's own answer. */
    public Status status() {
        Connection current = connection;
        if (current == null || current.observes() || !platform.kind().can(Capability.STATUS)) return null;
        String motd = current.settings.isMaintenance() ? texts.get(null, "status.maintenance") : current.settings.motd();
        return new Status(motd.isBlank() ? null : motd, Math.max(current.servers.players(), platform.players().size()),
                current.settings.maxPlayers());
    }

    /** A player as the sender of commands. */
    public Sender player(UUID player, String name) {
        return new Sender(player, name, text -> platform.send(player, text));
    }

    /** The console, or another sender of commands without an account. */
    public Sender console(Consumer<String> output) {
        return new Sender(null, "Console", output);
    }

    /** The differences so far, while the plugin only observes. */
    List<String> differences() {
        Connection current = connection;
        return current == null ? List.of() : current.observer.report();
    }

    private void reportDifferences() {
        Connection current = connection;
        if (current != null) reportDifferences(current);
    }

    private void reportDifferences(Connection current) {
        try {
            current.observer.close(platform.folder().resolve("observe.log")).forEach(line -> platform.log(INFO, line));
        } catch (IOException failure) {
            platform.log(WARNING, "The differences cannot be written: " + failure.getMessage());
        }
    }
}
