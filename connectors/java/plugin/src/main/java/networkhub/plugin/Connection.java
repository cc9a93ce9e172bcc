package networkhub.plugin;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import networkhub.HubClient;
import networkhub.connector.ConnectorOptions;
import networkhub.connector.GameServer;
import networkhub.connector.HubConnector;
import networkhub.connector.Place;
import networkhub.connector.PlayerDataHandler;
import networkhub.model.ChatMessage;
import networkhub.model.Punishment;
import networkhub.model.PunishmentKind;
import networkhub.model.ServerRegistration;
import networkhub.model.ServerRole;
import networkhub.model.SignedTransferCommand;

/** The plugin while it has an address and a key: the connector, and what the hub orders. */
final class Connection implements GameServer {
    /** Smaller differences come from rounding. */
    private static final BigDecimal CENT = new BigDecimal("0.01");

    private final Platform platform;
    private final Texts texts;
    final PluginConfig config;
    final HubConnector hub;
    final Settings settings;
    final Alerts alerts;
    final ServerDirectory servers;
    final Router router;
    final Observer observer = new Observer();
    /** Time of the start, in milliseconds by this machine's clock. */
    final long startedAt = System.currentTimeMillis();
    /** True if the hub answers permissions. */
    final boolean hasPermissions;
    /** True if bans and mutes of the hub are enforced. */
    final boolean hasPunishments;
    /** Money for Vault; null where the hub does not answer it. */
    final Purses purses;
    /** True if PlaceholderAPI shows values of the hub. */
    final boolean hasPlaceholders;
    /** Parts that move with players; null for none. */
    private final PlayerState playerState;

    Connection(Platform platform, Texts texts, PluginConfig config, ScheduledExecutorService thread) {
        this.platform = platform;
        this.texts = texts;
        this.config = config;
        hasPermissions = !config.observes()
                && config.permissions().orElse(Neighbors.permissions(platform.plugins()).isEmpty());
        hasPunishments = !config.observes()
                && config.punishments().orElse(Neighbors.punishments(platform.plugins()).isEmpty());
        boolean moves = !config.observes() && platform.kind().can(Capability.PLAYER_DATA) && !config.playerData().isEmpty();
        playerState = moves ? platform.playerState(config) : null;
        hub = options().connector();
        texts.use(hub);
        settings = new Settings(hub);
        alerts = new Alerts(hub);
        servers = new ServerDirectory(hub, thread, platform.folder().resolve("servers.json"), this::serversChanged);
        router = new Router(hub.client(), settings, servers, texts, config.region());
        boolean hasVault = Neighbors.has("Vault", platform.plugins()) && platform.kind().can(Capability.VAULT);
        boolean hasMoney = !config.observes() && hasVault && config.economy().orElse(Neighbors.money(platform.plugins()).isEmpty());
        purses = hasMoney ? new Purses(hub, settings, platform, thread) : null;
        hasPlaceholders = !config.observes() && platform.kind().can(Capability.PLACEHOLDERS)
                && Neighbors.has("PlaceholderAPI", platform.plugins()) && config.placeholders().orElse(true);
        hub.on("PUNISHMENT", event -> {
            if ("CREATED".equals(event.text("action"))) {
                tell(HubClient.gson().fromJson(event.data().get("punishment"), Punishment.class));
            }
        });
        hub.permissions().onChange(this::permissionsChanged);
        if (observes()) return;
        if (platform.kind().isProxy()) {
            platform.connecting(hub);
            return;
        }
        alerts.show(platform, texts);
        hub.onPlace(this::tell);
        hub.onMatch(matched -> matched(matched.playerUuid(), matched.party()));
        hub.onDelivery("command", this, new CommandDelivery(platform)::run);
        hub.onDelivery("message", delivery -> platform.send(delivery.playerUuid(), CommandDelivery.text(delivery, "text")));
        platform.connecting(hub);
    }

    private void tell(Place place) {
        boolean isKnown = place.etaMs() != null;
        platform.send(place.playerUuid(), texts.get(place.playerUuid(), isKnown ? "queue.place-eta" : "queue.place",
                "position", place.position(), "waiting", place.waiting(),
                "eta", isKnown ? Durations.format(place.etaMs()) : ""));
    }

    private void matched(UUID leader, List<UUID> party) {
        List<UUID> players = new ArrayList<>(party);
        players.add(leader);
        players.stream().filter(platform.players()::containsKey)
                .forEach(player -> platform.send(player, texts.get(player, "queue.matched")));
    }

    private ConnectorOptions options() {
        boolean isProxy = platform.kind().isProxy();
        ServerRegistration info = ServerRegistration.builder()
                .serverId(config.serverId())
                .serverType(config.type())
                .role(isProxy ? ServerRole.PROXY : ServerRole.GAME)
                .gameType("MINECRAFT")
                .host(config.host())
                .region(config.region())
                .port(platform.port())
                .maxPlayers(platform.maxPlayers())
                .platformName(platform.kind().title())
                .platformVersion(platform.version())
                .pluginVersion(HubPlugin.version())
                .build();
        ConnectorOptions options = HubConnector.builder(HubClient.create(config.url(), config.key()), info, this)
                .events("SERVER_ONLINE", "SERVER_OFFLINE", "BALANCE_CHANGED")
                .gameType("MINECRAFT")
                .defaultLocale("en")
                .joinTimeout(Duration.ofSeconds(4));
        Texts.DEFAULTS.forEach((locale, entries) -> options.messages(Texts.NAMESPACE, locale, entries));
        if (!isProxy) options.permissionContext("server=" + config.type());
        if (config.allowUnverified()) options.allowUnverified();
        if (playerState != null) {
            options.playerData(new Moves(), playerState.namespaces().toArray(String[]::new)).gameMode(config.dataGroup());
        }
        return options;
    }

    void start() {
        hub.start();
        servers.start();
        platform.players().forEach(this::joined);
    }

    void joined(UUID player, String name) {
        hub.playerJoined(player, name);
        if (purses != null) purses.joined(player);
    }

    /** True while a player's data is not here, so that nothing of it may change. */
    boolean isFrozen(UUID player) {
        return hasPlayerState() && !hub.playerData().isOpen(player);
    }

    boolean hasPlayerState() {
        return playerState != null && !playerState.namespaces().isEmpty();
    }

    void left(UUID player) {
        hub.playerLeft(player);
        router.left(player);
        if (purses != null) purses.left(player);
    }

    /** Value of a placeholder; null if there is none of this name. */
    String placeholder(UUID player, String name) {
        if (!hasPlaceholders) return null;
        return switch (name) {
            case "server" -> config.serverId();
            case "type" -> config.type();
            case "connected" -> String.valueOf(hub.status().isConnected());
            case "network_players" -> String.valueOf(Math.max(servers.players(), platform.players().size()));
            case "currency" -> purses == null ? "" : purses.currency();
            case "balance" -> player == null || purses == null ? ""
                    : purses.balance(player).map(balance -> balance.stripTrailingZeros().toPlainString()).orElse("");
            case "queue_place" -> player == null ? "" : hub.place(player).map(place -> String.valueOf(place.position())).orElse("");
            case "muted" -> player == null ? "" : String.valueOf(hub.punishments().mute(player).isPresent());
            default -> null;
        };
    }

    /** Completes within some seconds, when the hub knows that the server is offline or does not answer. */
    CompletableFuture<Void> stop() {
        return hub.stop();
    }

    boolean observes() {
        return config.observes();
    }

    private void serversChanged(List<GameAddress> found) {
        if (!observes()) platform.serversChanged(found);
    }

    private void permissionsChanged(UUID player) {
        if (!platform.players().containsKey(player)) return;
        if (hasPermissions) platform.permissionsChanged(player);
        if (observes()) comparePermissions(player);
    }

    /** Compares the permissions that the hub knows with the server's. */
    void comparePermissions(UUID player) {
        var known = hub.permissions().get(player);
        String name = platform.players().get(player);
        if (known == null || name == null) return;
        platform.executeFor(player, () -> known.permissions().forEach((node, value) -> {
            if (node.contains("*") || node.startsWith("group.")) return;
            observer.compared(1);
            boolean allowed = platform.hasPermission(player, node);
            if (allowed == value) return;
            observer.differs(value ? Observer.Difference.HUB_ALLOWS : Observer.Difference.HUB_DENIES, name + " " + node);
        }));
    }

    /** Compares the money that the hub knows with that of the server's plugin. */
    void compareMoney(UUID player) {
        String name = platform.players().get(player);
        String currency = settings.currency();
        hub.client().economy().balances("player", player.toString()).thenAccept(balances -> platform.executeFor(player, () -> {
            OptionalDouble here = platform.balance(player);
            if (here.isEmpty()) return;
            BigDecimal known = balances.stream().filter(each -> currency.isBlank() || each.currencyName().equalsIgnoreCase(currency))
                    .map(each -> new BigDecimal(each.balance().toString())).findFirst().orElse(BigDecimal.ZERO);
            observer.compared(1);
            BigDecimal own = BigDecimal.valueOf(here.getAsDouble());
            if (known.subtract(own).abs().compareTo(CENT) < 0) return;
            observer.differs(Observer.Difference.MONEY, name + " " + own.toPlainString() + " here, " + known.toPlainString() + " at the hub");
        }));
    }

    /** Tells a player of a warning or a mute; the game servers do. */
    private void tell(Punishment punishment) {
        if (!hasPunishments || !platform.kind().can(Capability.MUTES)) return;
        boolean isMute = punishment.type() == PunishmentKind.MUTE;
        if (!isMute && punishment.type() != PunishmentKind.WARN) return;
        platform.players().forEach((player, name) -> {
            boolean isTheirs = player.equals(punishment.playerUuid())
                    || punishment.playerUuid() == null && name.equalsIgnoreCase(punishment.playerName());
            if (!isTheirs) return;
            Punished punished = new Punished(texts, player, punishment);
            platform.send(player, punished.text(isMute ? "punished.mute" : "punished.warn"));
        });
    }

    /** The way of a player's data into the game and out of it, and its end. */
    private final class Moves implements PlayerDataHandler {
        @Override
        public void apply(UUID player, Map<String, String> data) {
            playerState.apply(player, data);
        }

        @Override
        public Map<String, String> capture(UUID player) {
            return playerState.capture(player);
        }

        /** The player is frozen from now on, until the data is opened again; where it cannot be, they are better off elsewhere. */
        @Override
        public void ended(UUID player, End reason) {
            if (reason == End.REFUSED) platform.kick(player, texts.get(player, "data.refused"));
        }
    }

    @Override
    public void runOnMainThread(Runnable task) {
        platform.execute(task);
    }

    @Override
    public void runFor(UUID player, Runnable task) {
        platform.executeFor(player, task);
    }

    @Override
    public void transferPlayer(UUID player, SignedTransferCommand command) {
        refuseWhileObserving();
        platform.connect(player, new GameAddress(command.targetServerId(), "", command.host(), command.port(), 0, 0, true));
    }

    @Override
    public void kickPlayer(UUID player, Punishment reason) {
        if (observes()) observer.differs(Observer.Difference.HUB_KICKS, String.valueOf(platform.players().get(player)));
        if (!hasPunishments) return;
        boolean isBan = reason.type() == PunishmentKind.BAN;
        platform.kick(player, new Punished(texts, player, reason).text(isBan ? "login.banned" : "login.kicked"));
    }

    @Override
    public void showChat(ChatMessage message) {
        if (observes() || !platform.kind().can(Capability.CHAT) || !settings.isChatShared()) return;
        String rank = message.rank() == null || message.rank().isBlank() ? "" : texts.get(null, "chat.rank", "rank", message.rank());
        platform.broadcast(texts.get(null, "chat.line", "rank", new Texts.Part(rank), "player", message.playerName(), "message",
                message.message()));
    }

    @Override
    public String runCommand(String command) {
        refuseWhileObserving();
        return platform.runCommand(command);
    }

    private void refuseWhileObserving() {
        if (observes()) throw new IllegalStateException("The server only observes: mode=observe in its config.properties.");
    }
}
