package networkhub.connector;

import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import com.google.gson.JsonElement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Supplier;
import networkhub.EventStream;
import networkhub.HubClient;
import networkhub.HubEvent;
import networkhub.HubException;
import networkhub.ServerState;
import networkhub.model.ChatMessage;
import networkhub.model.ChatMessageInput;
import networkhub.model.ConsoleCommandOrder;
import networkhub.model.DeliveryReady;
import networkhub.model.LoadedPlayer;
import networkhub.model.OpenedWorld;
import networkhub.model.PlayerAddress;
import networkhub.model.Punishment;
import networkhub.model.PunishmentKind;
import networkhub.model.ServerRegistration;
import networkhub.model.ServerRole;
import networkhub.model.ServerSession;
import networkhub.model.SignedTransferCommand;
import networkhub.model.Ticket;
import networkhub.model.TicketMatched;
import networkhub.model.TicketRequest;
import networkhub.model.TicketUpdated;
import networkhub.model.TransferOutcome;
import networkhub.model.WorldRequest;

/**
 * Connects a game server or proxy with its hub: registers it, keeps it online, reports its players, listens to the event stream, and
 * keeps in memory what the main thread asks for. One for each server, for as long as it runs.
 *
 * <p><b>Threads.</b> Every method may be called from any thread and returns at once; none waits for the network. The connector
 * works on one thread of its own: listeners ({@link #on}, {@link CachedConfig#onChange}) are called there and must not block.
 * {@link GameServer} is called on the server's main thread. Futures complete on the connector's or the client's threads.
 *
 * <p><b>Outages.</b> While the hub is away the connector keeps trying, with growing and random delays. Joins, leaves and changes of
 * worlds wait in memory, in order, until the hub has confirmed them. The event stream resumes where it ended; where that is
 * not possible everything that is kept is read again. Bans and mutes stay in force ({@link PunishmentCache}); permissions, messages
 * and config stay as they were.
 *
 * <p><b>Errors.</b> Futures fail with {@link HubException}. Times are milliseconds since the Unix epoch.
 */
public final class HubConnector {
    private static final System.Logger LOG = System.getLogger("networkhub");
    private static final long TICK_MS = 5_000;
    private static final long LOOK_MS = 60_000;

    private final ConnectorOptions options;
    private final HubClient client;
    private final GameServer game;
    private final ServerRegistration info;
    private final ScheduledThreadPoolExecutor thread;
    private final HubClock clock = new HubClock();
    private final TransferVerifier verifier = new TransferVerifier();
    private final Set<UUID> online = ConcurrentHashMap.newKeySet();
    private final Map<String, List<Consumer<HubEvent>>> listeners = new ConcurrentHashMap<>();
    private final List<CachedConfig> configs = new CopyOnWriteArrayList<>();
    private final Session session;
    private final EventStream stream;
    private final PunishmentCache punishments = new PunishmentCache(clock);
    private final PermissionCache permissions;
    private final LocalizationCache localization;
    private final RefreshQueue punishmentRefresh;
    private final RefreshQueue permissionRefresh;
    private final RefreshQueue languageRefresh;
    private final TransferHandler transfers;
    private final CommandRunner commands;
    private final WorldOpener worlds;
    private final PlayerDataStore data;
    private final DeliveryRunner deliveries;
    private final LineWaiter lines;
    private volatile boolean streamOpen;
    private volatile long streamLostAt = System.nanoTime();
    private volatile HubException streamError;
    private boolean hasOldHub;
    private final boolean isProxy;
    private final AtomicBoolean isStopping = new AtomicBoolean();
    private final CompletableFuture<Void> stopped = new CompletableFuture<>();

    /** Use {@link ConnectorOptions#connector}. */
    HubConnector(ConnectorOptions options) {
        this.options = options;
        client = options.client;
        game = options.game;
        info = options.info;
        isProxy = info.role() == ServerRole.PROXY;
        thread = new ScheduledThreadPoolExecutor(1, task -> {
            Thread made = new Thread(task, "hub-connector");
            made.setDaemon(true);
            return made;
        });
        thread.setRemoveOnCancelPolicy(true);
        thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        session = new Session(client, thread, info, options.state, verifier::registering, this::registered);
        stream = client.events(info.serverId(), options.events, thread, new StreamListener());
        permissions = new PermissionCache(client, options.permissionContext);
        localization =
                new LocalizationCache(client, options.namespaces, options.messages, options.defaultLocale);
        punishmentRefresh = new RefreshQueue(thread, this::readPunishments);
        permissionRefresh = new RefreshQueue(thread, permissions::refresh);
        languageRefresh = new RefreshQueue(thread, localization::refreshLanguage);
        transfers = new TransferHandler(client, thread, game, clock, verifier, online::contains, session::hasPendingChanges);
        commands = new CommandRunner(client, thread, game, clock);
        worlds = new WorldOpener(client, thread);
        data = new PlayerDataStore(options, thread, this::dataOpened);
        deliveries = new DeliveryRunner(client, thread, game, info.serverId(), data, online::contains);
        lines = new LineWaiter(client, thread, transfers, info.serverId(), isProxy, online::contains);
    }

    /** A connector to be configured, for a server that does what the hub asks for. */
    public static ConnectorOptions builder(HubClient client, ServerRegistration info, GameServer game) {
        return new ConnectorOptions(client, info, game);
    }

    /** Begins to connect. Once. */
    public void start() {
        run(() -> {
            session.start();
            stream.open();
            data.start();
            if (!options.messages.isEmpty()) persist(localization::registerDefaults);
            every(TICK_MS, this::tick);
            every(LOOK_MS, () -> deliveries.look(null));
        });
    }

    /**
     * Saves the data of all players and settles the deliveries that were begun, for up to five seconds; tells the hub what is still waiting
     * and that the server is offline, for up to three; ends the connector. To be called where players may be touched, because their data
     * is captured in the caller, and to be waited for where a server stops: {@code connector.stop().get(10, SECONDS)}.
     */
    public CompletableFuture<Void> stop() {
        if (!isStopping.compareAndSet(false, true)) return stopped;
        Duration patience = Duration.ofSeconds(5);
        CompletableFuture<Void> delivered = deliveries.stop(patience);
        // Before the server is offline: its sessions end with it.
        CompletableFuture.allOf(delivered, data.stop(patience)).thenRun(() -> run(() -> {
            stream.close();
            session.stop(Duration.ofSeconds(3)).whenComplete((nothing, failure) -> {
                stopped.complete(null);
                thread.shutdown();
            });
        }));
        return stopped;
    }

    /** Returns the connector's state. */
    public ConnectorStatus status() {
        HubException error = session.lastError() != null ? session.lastError() : streamOpen ? null : streamError;
        return new ConnectorStatus(session.isRegistered() && !session.isAway(), streamOpen, session.pendingChanges(),
                error == null ? null : error.getMessage());
    }

    /** The client, for calls that the connector does not make itself. */
    public HubClient client() {
        return client;
    }

    /**
     * Asks whether a player may join, and loads them; call it before they do. Answers within the time of
     * {@link ConnectorOptions#joinTimeout}, also while the hub is away: then from what is known, and a player of whom nothing current
     * is known is refused, unless {@link ConnectorOptions#allowUnverified} was set.
     *
     * @param ip the player's address, so that bans of addresses match; or null
     * @return never fails
     */
    public CompletableFuture<JoinDecision> checkJoin(UUID player, String name, String ip) {
        if (ip != null) {
            PlayerAddress address = PlayerAddress.builder().playerUuid(player).playerName(name).ipAddress(ip).build();
            Persist.call(thread, Duration.ofMinutes(1), () -> client.punishments().recordIp(address));
        }
        long askedAt = System.nanoTime();
        CompletableFuture<JoinDecision> checked = client.players()
                .load(player, name, options.gameMode, options.gameType, ip, options.include())
                .thenCompose(profile -> checkBans(player, name, ip, profile, askedAt));
        return checked.orTimeout(options.joinTimeout.toMillis(), TimeUnit.MILLISECONDS).exceptionally(failure -> {
            LOG.log(INFO, "Player {0} is checked without the hub: {1}", player, HubException.of(failure).getMessage());
            return decideFromCache(player, name, ip);
        });
    }

    private CompletableFuture<JoinDecision> checkBans(UUID player, String name, String ip, LoadedPlayer profile,
            long askedAt) {
        // An older hub includes nothing.
        CompletableFuture<List<Punishment>> active = profile.permissions() != null
                ? CompletableFuture.completedFuture(profile.punishments())
                : client.punishments().query(player, ip, true);
        if (profile.language() != null) localization.put(player, profile.language(), askedAt);
        return active.thenCombine(readPermissions(player, profile, askedAt), (found, nothing) -> {
            punishments.checked(player, name, ip, found, askedAt);
            return punishments.ban(player).map(JoinDecision::banned).orElseGet(() -> JoinDecision.allow(profile));
        });
    }

    /** Part of the join, so that they are known at its end. A load has no context, so they are read separately for one. */
    private CompletableFuture<Void> readPermissions(UUID player, LoadedPlayer profile, long askedAt) {
        if (profile.permissions() == null || options.permissionContext != null) {
            return permissions.refresh(player).exceptionally(failure -> warn("Permissions cannot be read", failure));
        }
        permissions.put(player, profile.permissions(), null, askedAt);
        return CompletableFuture.completedFuture(null);
    }

    private JoinDecision decideFromCache(UUID player, String name, String ip) {
        Optional<Punishment> ban = punishments.find(player, name, ip, PunishmentKind.BAN);
        if (ban.isPresent()) return JoinDecision.banned(ban.get());
        boolean isRecent = streamOpen || System.nanoTime() - streamLostAt < options.trustClean.toNanos();
        boolean isKnown = isRecent && punishments.isCurrent(player, ip);
        return isKnown || options.allowUnverified ? JoinDecision.allow(null) : JoinDecision.notVerified();
    }

    /**
     * A player is on this server now. Tell of everybody who is online already when the connector starts, too. A proxy's connector keeps it
     * to itself, because the game servers report their players.
     */
    public void playerJoined(UUID player, String name) {
        if (!isProxy) data.joined(player, name);
        run(() -> {
            online.add(player);
            if (!isProxy) session.add(PlayerChange.join(player, name));
            // Something may have changed since they were checked, if they were.
            if (!punishments.isCurrent(player, null)) punishmentRefresh.add(player);
            punishments.ban(player).ifPresent(ban -> kick(player, ban));
            if (permissions.mayBeStale(player)) permissionRefresh.add(player);
            if (localization.language(player) == null) languageRefresh.add(player);
        });
    }

    /** A player went to another world of this server; the previous one may be null. */
    public void playerChangedWorld(UUID player, String worldId, String previousWorldId) {
        run(() -> session.add(PlayerChange.world(player, worldId, previousWorldId)));
    }

    /**
     * A player is no longer on this server. Where the connector keeps players' data, call it where the player may still be touched: their
     * data is captured in the caller.
     */
    public void playerLeft(UUID player) {
        data.left(player);
        run(() -> {
            online.remove(player);
            lines.left(player);
            if (!isProxy) session.add(PlayerChange.leave(player));
        });
    }

    /** The game's state or the worlds have changed; the hub learns it at once. */
    public void setState(ServerState state) {
        run(() -> session.setState(state));
    }

    /**
     * Sends a player to another server, wherever they are. While the hub is away, or the player's server is reconnecting, it is tried for
     * 30 seconds. The outcome says whether the command is on its way; a reason why it cannot be is an outcome, too.
     *
     * @param worldId the world there, or null
     */
    public CompletableFuture<TransferOutcome> transfer(UUID player, String targetServerId, String worldId) {
        CompletableFuture<TransferOutcome> result = new CompletableFuture<>();
        run(() -> transfers.ask(player, targetServerId, worldId, Duration.ofSeconds(30), result));
        return result;
    }

    /** Opens a world and waits until it is up, for up to a minute; fails with {@code world_timeout}. */
    public CompletableFuture<OpenedWorld> openWorld(WorldRequest request) {
        CompletableFuture<OpenedWorld> result = new CompletableFuture<>();
        run(() -> worlds.open(request, Duration.ofMinutes(1), result));
        return result;
    }

    /**
     * Sends a line to the whole network; it comes back to {@link GameServer#showChat}. Fails with {@code muted} for a player who may
     * not chat, and with {@code chat_rejected} where a filter refuses it. Chat is not kept for later.
     */
    public CompletableFuture<Void> sendChat(UUID player, String name, String message) {
        if (punishments.isMuted(player)) {
            return CompletableFuture.failedFuture(new HubException("muted", "The player is muted."));
        }
        return client.chat().send(ChatMessageInput.builder()
                .playerUuid(player)
                .playerName(name)
                .message(message)
                .serverId(info.serverId())
                .serverType(info.serverType())
                .build());
    }

    /** The data of the players who are here, where {@link ConnectorOptions#playerData} names some. */
    public PlayerDataStore playerData() {
        return data;
    }

    /**
     * Carries out deliveries of a kind, such as a kit that was bought: claims each that is for a player here, calls the handler, and
     * settles it. If the server ends in the middle, the delivery's {@code onLost} decides.
     *
     * <p>For effects that are in the players' data use {@link #onDataDelivery}.
     */
    public void onDelivery(String kind, DeliveryHandler handler) {
        onDelivery(kind, null, handler);
    }

    /** The same on a thread of the caller's choice: the {@link GameServer} itself is its main thread. */
    public void onDelivery(String kind, Executor where, DeliveryHandler handler) {
        deliveries.handle(kind, handler, false, where);
        run(() -> deliveries.look(null));
    }

    /**
     * Carries out deliveries of a kind whose effects are in the players' data, such as items: the handler is called while the data is
     * open, the data is captured right after it, and is saved in one step with the end of the delivery. Either both happen or neither,
     * unless the hub is away for longer than a claim lasts, a minute: then the data is saved alone, and the delivery is held, or settled when
     * it is offered here again.
     */
    public void onDataDelivery(String kind, DeliveryHandler handler) {
        deliveries.handle(kind, handler, true, null);
        run(() -> deliveries.look(null));
    }

    /**
     * Lets a player, or the leader of a party, wait for a server or world that may be full. When there is room, the players who are here
     * are sent there. The same request again keeps the place.
     */
    public CompletableFuture<Ticket> waitInLine(TicketRequest request) {
        return lines.join(request);
    }

    /** Ends the waiting of a player of this server; returns whether they waited. */
    public CompletableFuture<Boolean> leaveLine(UUID player) {
        return lines.leave(player);
    }

    /** The place of a player of this server who waits, as it was told last. */
    public Optional<Place> place(UUID player) {
        return lines.place(player);
    }

    /** Calls this when a waiting player of this server has another place, on the connector's thread. */
    public void onPlace(Consumer<Place> listener) {
        lines.onPlace(listener);
    }

    /** Calls this when players of this server have got their place elsewhere, on the connector's thread; the connector sends them. */
    public void onMatch(Consumer<TicketMatched> listener) {
        lines.onMatch(listener);
    }

    /** The punishments that are known. */
    public PunishmentCache punishments() {
        return punishments;
    }

    /** Permissions of players. */
    public PermissionCache permissions() {
        return permissions;
    }

    /** Messages and languages. */
    public LocalizationCache localization() {
        return localization;
    }

    /** Verifies commands that another server has handed to this one. */
    public TransferVerifier transferVerifier() {
        return verifier;
    }

    /** The time by the hub's clock, in milliseconds since the epoch, as its pings show. */
    public CompletableFuture<Long> hubTime() {
        return CompletableFuture.supplyAsync(clock::now, thread);
    }

    /** A config document that is kept current; the default is stored where the network has none. */
    public CachedConfig config(String group, String namespace, JsonElement defaultDoc) {
        CachedConfig config = new CachedConfig(client, group, namespace, defaultDoc);
        configs.add(config);
        run(() -> read(config));
        return config;
    }

    /**
     * Calls this with every event of a type, on the connector's thread; {@code RESYNC} says that events may have been missed. Types
     * beyond those that the connector needs are to be named in {@link ConnectorOptions#events}.
     */
    public void on(String type, Consumer<HubEvent> listener) {
        listeners.computeIfAbsent(type, name -> new CopyOnWriteArrayList<>()).add(listener);
    }

    /** Each time on its own, because an executor repeats nothing that has failed once. */
    private void every(long ms, Runnable task) {
        thread.scheduleWithFixedDelay(() -> run(task), ms, ms, TimeUnit.MILLISECONDS);
    }

    private void run(Runnable task) {
        try {
            thread.execute(() -> {
                try {
                    task.run();
                } catch (Throwable failure) {
                    LOG.log(WARNING, "The connector failed at a task", failure);
                }
            });
        } catch (RejectedExecutionException stopped) {
            LOG.log(System.Logger.Level.DEBUG, "the connector has stopped");
        }
    }

    private void registered(ServerSession answer) {
        verifier.setSecret(answer.signingSecret(), clock.now());
        LOG.log(INFO, "Registered with the hub as {0}", answer.serverId());
    }

    private CompletableFuture<Void> readPunishments(UUID player) {
        long askedAt = System.nanoTime();
        String name = punishments.name(player);
        String ip = punishments.ip(player);
        return client.punishments().query(player, ip, true).thenAcceptAsync(found -> {
            if (!punishments.isOf(player, name, ip)) {
                // They came from another address meanwhile, whose bans are not in the answer.
                punishmentRefresh.add(player);
                return;
            }
            punishments.checked(player, name, ip, found, askedAt);
            punishments.ban(player).ifPresent(ban -> kick(player, ban));
        }, thread);
    }

    private void dataOpened(UUID player) {
        deliveries.look(player);
    }

    private void kick(UUID player, Punishment reason) {
        if (online.contains(player)) game.runFor(player, () -> game.kickPlayer(player, reason));
    }

    private void read(CachedConfig config) {
        Persist.call(thread, Persist.FOREVER, config::read)
                .thenAcceptAsync(config::set, thread)
                .exceptionally(failure -> warn("A config document cannot be read", failure));
    }

    private void readCatalog() {
        if (!options.namespaces.isEmpty()) persist(localization::refreshCatalog);
    }

    private void persist(Supplier<CompletableFuture<Void>> call) {
        Persist.call(thread, Persist.FOREVER, call).exceptionally(failure -> warn("A call of the connector failed", failure));
    }

    private static Void warn(String what, Throwable failure) {
        LOG.log(WARNING, "{0}: {1}", what, HubException.of(failure).getMessage());
        return null;
    }

    /** Refreshes expired permissions, which no event announces. */
    private void tick() {
        long now = clock.now();
        online.stream().filter(player -> permissions.hasExpired(player, now)).forEach(permissionRefresh::add);
        permissions.prune(online);
        localization.prune(online);
    }

    /** Reads all cached state again. */
    private void readAll() {
        punishments.gap();
        punishmentRefresh.addAll(online);
        permissionRefresh.addAll(online);
        languageRefresh.addAll(online);
        readCatalog();
        configs.forEach(this::read);
        worlds.resync();
        lines.resync();
        deliveries.look(null);
    }

    private void handle(HubEvent event) {
        switch (event.type()) {
            case "PING" -> clock.ping(event.at());
            case "RESYNC" -> {
                LOG.log(INFO, "Events may have been missed; reading everything anew");
                session.registerAgain();
                readAll();
            }
            case "CHAT" -> {
                ChatMessage message = event.as(ChatMessage.class);
                game.runOnMainThread(() -> game.showChat(message));
            }
            case "PUNISHMENT" -> punished(event);
            case "TRANSFER" -> transfers.carryOut(event.as(SignedTransferCommand.class));
            case "SIGNING_SECRET_ROTATED" ->
                    verifier.rotate(event.text("signingSecret"), event.data().get("validUntil").getAsLong());
            case "EXECUTE_COMMAND" -> commands.run(event.as(ConsoleCommandOrder.class), event.at());
            case "LOCALIZATION_UPDATED" -> readCatalog();
            case "CONFIG_UPDATED" -> configs.stream()
                    .filter(config -> config.is(event.text("group"), event.text("namespace")))
                    .forEach(this::read);
            case "PERMISSIONS_UPDATED" -> {
                String player = event.text("playerUuid");
                JsonElement revision = event.data().get("revision");
                permissions.changed();
                online.stream()
                        .filter(each -> player == null || player.equals(each.toString()))
                        .filter(each -> permissions.isBefore(each, revision))
                        .forEach(permissionRefresh::add);
            }
            case "WORLD_READY" -> worlds.ready(event);
            case "SESSION_REQUESTED" -> data.requested(event);
            case "SESSION_ENDED" -> data.ended(event);
            case "DELIVERY_READY" -> {
                DeliveryReady ready = event.as(DeliveryReady.class);
                deliveries.claim(ready.deliveryId(), ready.playerUuid(), ready.kind());
            }
            case "TICKET_UPDATED" -> lines.updated(event.as(TicketUpdated.class));
            case "TICKET_MATCHED" -> lines.matched(event.as(TicketMatched.class));
            default -> { } // For listeners.
        }
    }

    private void punished(HubEvent event) {
        Punishment punishment = HubClient.gson().fromJson(event.data().get("punishment"), Punishment.class);
        boolean isCreated = "CREATED".equals(event.text("action"));
        // Staff may change a punishment that stays in force.
        boolean isKept = isCreated || "UPDATED".equals(event.text("action"));
        punishments.update(punishment, isKept && punishment.active());
        boolean removes = punishment.type() == PunishmentKind.BAN || punishment.type() == PunishmentKind.KICK;
        for (UUID player : online) {
            if (!punishments.concerns(punishment, player)) continue;
            if (isCreated && removes) kick(player, punishment);
        }
    }

    private final class StreamListener implements EventStream.Listener {
        private boolean wasOpen;

        @Override
        public void onOpen() {
            streamOpen = true;
            streamError = null;
            // State that was read before the first stream may have changed before it began.
            if (!wasOpen) readAll();
            wasOpen = true;
        }

        @Override
        public void onDisconnected(HubException why) {
            if (streamOpen) streamLostAt = System.nanoTime();
            streamOpen = false;
            streamError = why;
            LOG.log(INFO, "The event stream ended and will be opened again: {0}", why.getMessage());
            if (why.status() == 400 && !hasOldHub) {
                LOG.log(WARNING, "The hub is older than this connector and does not know all events; going on without them");
                hasOldHub = true;
                stream.setTypes(ConnectorOptions.EVENTS_OF_OLDER_HUBS);
            }
        }

        @Override
        public void onEvent(HubEvent event) {
            if (event.type() == null) return;
            handle(event);
            for (Consumer<HubEvent> listener : listeners.getOrDefault(event.type(), List.of())) {
                try {
                    listener.accept(event);
                } catch (RuntimeException failure) {
                    LOG.log(WARNING, "A listener of " + event.type() + " failed", failure);
                }
            }
        }
    }
}
