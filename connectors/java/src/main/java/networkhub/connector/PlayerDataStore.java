package networkhub.connector;

import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import networkhub.HubClient;
import networkhub.HubException;
import networkhub.HubEvent;
import networkhub.RetryPolicy;
import networkhub.connector.PlayerDataHandler.End;
import networkhub.connector.PlayerHold.DataClaim;
import networkhub.connector.PlayerHold.State;
import networkhub.model.OpenedPlayerSession;
import networkhub.model.PlayerSessionRequest;
import networkhub.model.PlayerSessionSave;
import networkhub.model.SessionData;

/**
 * The data of the players who are here, by player sessions: one server at a time may write a player's data, so nothing is lost or
 * doubled when players change servers.
 *
 * <p>A session is opened when a player joins, saved from time to time, and saved and closed when the player leaves or another server
 * asks for them. A save that is not answered is sent again until it is: the hub makes it once. What a lost session had not saved is
 * never saved, and never comes back.
 *
 * <p>{@link #isOpen} says whether a player's data may change here. While it is false, let the player move no items, drop nothing,
 * take no damage and run no commands. All methods may be called from any thread.
 */
public final class PlayerDataStore {
    private static final System.Logger LOG = System.getLogger("networkhub");
    private static final RetryPolicy DELAYS = new RetryPolicy(1, Duration.ofMillis(200), Duration.ofSeconds(3));
    /** Wait of an opening for the server that has the player's session. */
    private static final long OPENING_WAIT_MS = 3_000;
    private static final Duration TICK = Duration.ofSeconds(1);

    private final HubClient client;
    private final ScheduledExecutorService thread;
    private final Tasks tasks;
    private final SaveLink link;
    private final SessionWatch watch;
    private final GameServer game;
    private final String serverId;
    private final String gameMode;
    private final String gameType;
    private final PlayerDataHandler handler;
    private final List<String> include;
    private final Duration autosave;
    private final Consumer<UUID> onOpened;
    private final boolean isOn;
    final Map<UUID, PlayerHold> holds = new ConcurrentHashMap<>();
    private final Map<Long, PlayerHold> byFence = new ConcurrentHashMap<>();
    /** Fences that were asked for before their opening was answered. On the connector's thread. */
    private final Set<Long> requestedEarly = new HashSet<>();

    PlayerDataStore(ConnectorOptions options, ScheduledExecutorService thread, Consumer<UUID> onOpened) {
        // Repeats are made here, where it is known whether they still make sense.
        client = options.client.withRetries(RetryPolicy.NONE);
        this.thread = thread;
        tasks = new Tasks(thread);
        link = new SaveLink(thread, tasks);
        game = options.game;
        serverId = options.info.serverId();
        watch = new SessionWatch(client, thread, tasks, serverId);
        gameMode = options.gameMode;
        gameType = options.gameType;
        handler = options.dataHandler;
        include = options.dataNamespaces.stream().map(namespace -> "data:" + namespace).toList();
        autosave = options.autosave;
        isOn = !options.dataNamespaces.isEmpty();
        this.onOpened = onOpened;
    }

    void start() {
        if (isOn) tasks.every(TICK, this::saveDue);
    }

    /** True while a player's data is here and may change: from {@link PlayerDataHandler#apply} until they leave or lose it. */
    public boolean isOpen(UUID player) {
        PlayerHold hold = holds.get(player);
        return hold != null && hold.isAt(State.OPEN);
    }

    /** The fence of a player's session, for writes of the plugin's own that name it; empty where there is none. */
    public OptionalLong fence(UUID player) {
        PlayerHold hold = holds.get(player);
        if (hold == null) return OptionalLong.empty();
        synchronized (hold) {
            return hold.state == State.OPEN || hold.state == State.APPLYING ? OptionalLong.of(hold.fence) : OptionalLong.empty();
        }
    }

    /** Data of a player who is here, as it was loaded, put or captured last. */
    public Optional<String> get(UUID player, String namespace) {
        PlayerHold hold = holds.get(player);
        if (hold == null) return Optional.empty();
        synchronized (hold) {
            boolean isHere = hold.state == State.OPEN || hold.state == State.APPLYING;
            return isHere ? Optional.ofNullable(hold.current.get(namespace)) : Optional.empty();
        }
    }

    /**
     * Changes a player's data, to be saved with the next save; for plugins that do not capture it.
     *
     * @param json one JSON value as text
     * @throws IllegalStateException while it is not {@link #isOpen open}: then nothing may change
     */
    public void put(UUID player, String namespace, String json) {
        PlayerHold hold = holds.get(player);
        if (hold != null) {
            synchronized (hold) {
                if (hold.state == State.OPEN || hold.state == State.APPLYING) {
                    hold.current.put(namespace, json);
                    return;
                }
            }
        }
        throw new IllegalStateException("the data of player " + player + " is not open on this server");
    }

    /**
     * Captures and saves a player's data now. Completes when the hub has confirmed it, however long that takes; fails with
     * {@code stale_session} where it is no longer this server's to save.
     */
    public CompletableFuture<Void> save(UUID player) {
        PlayerHold hold = holds.get(player);
        CompletableFuture<Void> saved = new CompletableFuture<>();
        if (hold == null || !hold.asks(saved)) return CompletableFuture.failedFuture(stale());
        inGame(player, () -> captureAndSave(hold));
        return saved;
    }

    /** A player has joined. */
    void joined(UUID player, String name) {
        if (!isOn) return;
        holds.compute(player, (id, before) -> {
            if (before != null && !before.hasLeft && !before.isAt(State.ENDED)) return before;
            PlayerHold hold = new PlayerHold(player, name);
            // An earlier visit here is saved first: its fence is good until the next opening.
            CompletableFuture<Void> free = before == null ? CompletableFuture.completedFuture(null) : before.done;
            free.thenRun(() -> tasks.run(() -> open(hold, 1)));
            return hold;
        });
    }

    /** A player leaves. Captures in the caller, where the player still exists. */
    void left(UUID player) {
        PlayerHold hold = holds.get(player);
        if (hold == null) return;
        hold.hasLeft = true;
        close(hold, null);
        holds.computeIfPresent(player, (id, now) -> now == hold && hold.isAt(State.ENDED) ? null : now);
    }

    /** All players leave. Completes when their data is saved, or the time is up. */
    CompletableFuture<Void> stop(Duration patience) {
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (PlayerHold hold : holds.values()) {
            left(hold.player);
            if (!hold.isAt(State.OPENING)) ends.add(hold.done);
        }
        return CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new))
                .completeOnTimeout(null, patience.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Another server asks for the player. On the connector's thread. */
    void requested(HubEvent event) {
        UUID player = UUID.fromString(event.text("playerUuid"));
        long fence = event.data().get("fence").getAsLong();
        PlayerHold hold = byFence.get(fence);
        if (hold == null) {
            PlayerHold opening = holds.get(player);
            if (opening != null && opening.isAt(State.OPENING)) requestedEarly.add(fence);
            return;
        }
        inGame(player, () -> close(hold, End.REQUESTED));
    }

    /** A session was ended by others. On the connector's thread. */
    void ended(HubEvent event) {
        PlayerHold hold = byFence.get(event.data().get("fence").getAsLong());
        if (hold != null) lose(hold);
    }

    /**
     * Carries out a delivery whose effect is part of the player's data, so that both are saved together. On the player's thread.
     *
     * @throws DeliveryException if the player's data is not open
     */
    void deliver(UUID player, DataClaim claim, Callable<?> effect) throws Exception {
        PlayerHold hold = holds.get(player);
        if (hold == null || !hold.isAt(State.OPEN)) throw new DeliveryException("The player's data is not open on the server.", true);
        effect.call();
        Map<String, String> captured;
        try {
            captured = Objects.requireNonNull(handler.capture(player));
        } catch (Throwable failure) {
            // The effect is in the game, so it must not happen again.
            LOG.log(WARNING, "The data of player " + player + " cannot be captured after a delivery", failure);
            throw new DeliveryException("It was carried out, but the player's data cannot be captured: " + failure, false);
        }
        boolean isTaken;
        synchronized (hold) {
            isTaken = hold.state == State.OPEN;
            if (isTaken) {
                // In one step, so that no save has the claim without the effect.
                hold.current.putAll(captured);
                hold.claims.add(claim);
            }
        }
        if (isTaken) {
            tasks.run(() -> save(hold));
        } else {
            claim.lost();
        }
    }

    /** Asks for the session until the hub answers or the player has left. On the connector's thread. */
    private void open(PlayerHold hold, int attempt) {
        if (!hold.isAt(State.OPENING)) return;
        synchronized (hold) {
            if (hold.hasLeft) hold.state = State.ENDED;
        }
        if (hold.isAt(State.ENDED)) {
            forget(hold);
            return;
        }
        PlayerSessionRequest request = PlayerSessionRequest.builder()
                .serverId(serverId)
                .waitMs(OPENING_WAIT_MS)
                .gameMode(gameMode)
                .gameType(gameType)
                .username(hold.name)
                .include(include)
                .build();
        client.players().openSession(hold.player, request).whenCompleteAsync((opened, failure) -> {
            if (failure == null) {
                opened(hold, opened);
                return;
            }
            HubException error = HubException.of(failure);
            if (isPassing(error)) {
                if (attempt == 3) LOG.log(WARNING, "The data of player {0} cannot be opened yet: {1}", hold.player, error.getMessage());
                Runnable again = () -> open(hold, attempt + 1);
                later(error.isTransient() ? () -> watch.whenSaved(hold.player, () -> !hold.hasLeft, again) : again, error, attempt);
            } else {
                LOG.log(WARNING, "The hub does not open the data of player {0}: {1}", hold.player, error.getMessage());
                end(hold, End.REFUSED, error);
            }
        }, thread);
    }

    private void opened(PlayerHold hold, OpenedPlayerSession opened) {
        synchronized (hold) {
            hold.fence = opened.fence();
            hold.state = State.OPENED;
            opened.profile().data().forEach((namespace, stored) -> {
                if (stored != null) hold.stored.put(namespace, stored.data());
            });
            hold.current.putAll(hold.stored);
        }
        byFence.put(opened.fence(), hold);
        if (opened.takenOver()) {
            LOG.log(WARNING, "Server {0} had not closed the session of player {1}: what it had not saved is lost",
                    opened.previousServerId(), hold.player);
        }
        boolean isRequested = requestedEarly.remove(opened.fence());
        // Of a lost answer of this player or of one who has left.
        if (requestedEarly.size() > 1_000) requestedEarly.clear();
        boolean hasLeft = hold.hasLeft;
        if (hasLeft || isRequested) {
            close(hold, null);
            if (!hasLeft) inGame(hold.player, () -> tell(hold, End.REQUESTED));
        } else {
            inGame(hold.player, () -> apply(hold));
        }
    }

    private void apply(PlayerHold hold) {
        Map<String, String> data;
        synchronized (hold) {
            if (hold.state != State.OPENED) return;
            hold.state = State.APPLYING;
            data = new HashMap<>(hold.stored);
        }
        boolean isApplied = false;
        try {
            handler.apply(hold.player, data);
            isApplied = true;
        } catch (Throwable failure) {
            LOG.log(WARNING, "The data of player " + hold.player + " cannot be applied; it stays as it was", failure);
        }
        boolean isOpen;
        boolean hasLeft;
        synchronized (hold) {
            if (hold.state != State.APPLYING) return;
            hasLeft = hold.hasLeft;
            isOpen = isApplied && !hold.isWantedBack && !hasLeft;
            hold.state = isOpen ? State.OPEN : State.OPENED;
            hold.isApplied = isApplied;
            hold.isUnusable = !isApplied;
            hold.nextSave = System.nanoTime() + (long) (autosave.toNanos() * (0.5 + ThreadLocalRandom.current().nextDouble() / 2));
        }
        if (isOpen) {
            tasks.run(() -> onOpened.accept(hold.player));
        } else {
            close(hold, hasLeft ? null : isApplied ? End.REQUESTED : End.REFUSED);
        }
    }

    /**
     * Takes a player's data out of the game, if it was put there, and gives the session back. Where the player may be touched, if the
     * session is open.
     *
     * @param reason null if the player has left
     */
    private void close(PlayerHold hold, End reason) {
        synchronized (hold) {
            if (hold.state == State.APPLYING) {
                hold.isWantedBack = true;
                return;
            }
            if (hold.state != State.OPENED && hold.state != State.OPEN) return;
            hold.state = State.CAPTURING;
        }
        Map<String, String> captured = hold.isApplied ? capture(hold) : Map.of();
        synchronized (hold) {
            if (hold.state != State.CAPTURING) return;
            hold.current.putAll(captured);
            hold.captured(List.copyOf(hold.asking));
            hold.state = State.CLOSING;
        }
        tasks.run(() -> save(hold));
        if (reason != null) tell(hold, reason);
    }

    /** A plugin that fails, be it for a class that the server's version lacks, keeps what was captured last. */
    private Map<String, String> capture(PlayerHold hold) {
        try {
            return Objects.requireNonNull(handler.capture(hold.player));
        } catch (Throwable failure) {
            LOG.log(WARNING, "The data of player " + hold.player + " cannot be captured; what was captured before is saved", failure);
            return Map.of();
        }
    }

    private void tell(PlayerHold hold, End reason) {
        try {
            handler.ended(hold.player, reason);
        } catch (Throwable failure) {
            LOG.log(WARNING, "The plugin failed at the end of a player's data", failure);
        }
    }

    private void saveDue() {
        if (autosave.isZero()) return;
        long now = System.nanoTime();
        for (PlayerHold hold : holds.values()) {
            synchronized (hold) {
                if (hold.state != State.OPEN || now - hold.nextSave < 0) continue;
                hold.nextSave = now + autosave.toNanos();
            }
            inGame(hold.player, () -> captureAndSave(hold));
        }
    }

    /** On the player's thread. */
    private void captureAndSave(PlayerHold hold) {
        List<CompletableFuture<Void>> asked;
        synchronized (hold) {
            if (hold.state != State.OPEN) return;
            asked = List.copyOf(hold.asking);
        }
        Map<String, String> captured = capture(hold);
        synchronized (hold) {
            if (hold.state != State.OPEN) return;
            hold.current.putAll(captured);
            hold.captured(asked);
        }
        tasks.run(() -> save(hold));
    }

    /**
     * A save under way: what it says, and who waits for it.
     *
     * @param isAlone whether the claims are not named in it, because one of them is over
     */
    private record Save(Map<String, String> data, List<DataClaim> claims, boolean isAlone, boolean closes, long number,
            List<CompletableFuture<Void>> waiting) {}

    /** Makes the next save, if there is something to say and none is under way. On the connector's thread. */
    private void save(PlayerHold hold) {
        Save save;
        synchronized (hold) {
            boolean closes = hold.state == State.CLOSING;
            if (hold.isSaving || !closes && hold.state != State.OPEN) return;
            Map<String, String> changes = hold.changes();
            if (changes.isEmpty() && hold.claims.isEmpty() && !closes) {
                hold.waiting.forEach(waiting -> waiting.complete(null));
                hold.waiting.clear();
                return;
            }
            save = new Save(changes, hold.claims, false, closes, ++hold.number, hold.waiting);
            hold.claims = new ArrayList<>();
            hold.waiting = new ArrayList<>();
            hold.isSaving = true;
        }
        send(hold, save, 1);
    }

    /** The same body until it is answered, so that it is made once. */
    private void send(PlayerHold hold, Save save, int attempt) {
        if (hold.isAt(State.ENDED)) {
            refused(save, stale());
            return;
        }
        PlayerSessionSave body = PlayerSessionSave.builder()
                .data(save.data.entrySet().stream().sorted(Map.Entry.comparingByKey())
                        .map(entry -> new SessionData(entry.getValue(), gameMode, entry.getKey())).toList())
                .complete(save.isAlone ? List.of() : save.claims.stream().map(DataClaim::claim).toList())
                .close(save.closes)
                .number(save.number)
                .build();
        link.reached(() -> client.players().saveSession(hold.player, hold.fence, body)).whenComplete((saved, failure) -> {
            if (failure == null) {
                confirmed(hold, save);
                return;
            }
            HubException error = HubException.of(failure);
            if (isPassing(error)) {
                if (attempt == 3) LOG.log(WARNING, "The data of player {0} is not saved yet: {1}", hold.player, error.getMessage());
                Runnable again = () -> send(hold, save, attempt + 1);
                if (error.isTransient() && error.retryAfter().isEmpty()) {
                    again.run();
                } else {
                    later(again, error, attempt);
                }
            } else if (error.is("stale_session")) {
                refused(save, error);
                lose(hold);
            } else if (error.is("stale_save") || error.is("stale_claim")) {
                again(hold, save, error);
            } else {
                refusedForGood(hold, save, error);
            }
        });
    }

    private void confirmed(PlayerHold hold, Save save) {
        synchronized (hold) {
            hold.stored.putAll(save.data);
            hold.isSaving = false;
        }
        save.claims.forEach(save.isAlone ? DataClaim::savedAlone : DataClaim::settled);
        save.waiting.forEach(waiting -> waiting.complete(null));
        if (save.closes) {
            over(hold, null);
        } else {
            next(hold);
        }
    }

    /** The session is closed. */
    private void over(PlayerHold hold, HubException error) {
        end(hold, null, error);
        if (!hold.hasLeft && !hold.isUnusable) reopen(hold);
    }

    private void next(PlayerHold hold) {
        boolean isDue;
        synchronized (hold) {
            isDue = hold.state == State.CLOSING || !hold.claims.isEmpty() || !hold.waiting.isEmpty();
        }
        if (isDue) save(hold);
    }

    /** Says the same under a higher number, and without claims if one of them is over: their effects are in the data already. */
    private void again(PlayerHold hold, Save save, HubException error) {
        boolean isClaim = error.is("stale_claim");
        Save next;
        synchronized (hold) {
            hold.number += isClaim ? 1 : 1_000;
            next = new Save(save.data, save.claims, isClaim || save.isAlone, save.closes, hold.number, save.waiting);
        }
        send(hold, next, 1);
    }

    private void refusedForGood(PlayerHold hold, Save save, HubException error) {
        LOG.log(WARNING, "The hub does not take the data of player {0}: {1}", hold.player, error.getMessage());
        synchronized (hold) {
            hold.isSaving = false;
        }
        if (!save.closes) {
            save.claims.forEach(claim -> claim.refused(error));
            save.waiting.forEach(waiting -> waiting.completeExceptionally(error));
            next(hold);
            return;
        }
        refused(save, error);
        if (save.data.isEmpty()) {
            over(hold, error);
        } else {
            // Without what is refused, so that the next server need not wait for the player.
            synchronized (hold) {
                hold.current.clear();
                hold.current.putAll(hold.stored);
            }
            if (!hold.hasLeft) inGame(hold.player, () -> tell(hold, End.REFUSED));
            save(hold);
        }
    }

    private static void refused(Save save, HubException error) {
        save.claims.forEach(DataClaim::lost);
        save.waiting.forEach(waiting -> waiting.completeExceptionally(error));
    }

    /** The session is no longer this server's. Opens another if the player is still here and nobody else has them. */
    private void lose(PlayerHold hold) {
        if (hold.isAt(State.ENDED)) return;
        LOG.log(WARNING, "The session of player {0} is over; what was not saved is lost", hold.player);
        end(hold, End.LOST, stale());
        if (!hold.hasLeft) reopen(hold);
    }

    /** Opens the data again for a player who stays after all, once no other server has them. */
    private void reopen(PlayerHold ended) {
        watch.whenFree(ended.player, () -> holds.get(ended.player) == ended && !ended.hasLeft, () -> {
            LOG.log(INFO, "Player {0} is still here: their data is opened again", ended.player);
            joined(ended.player, ended.name);
        });
    }

    /** The end of a session, as far as this server is concerned. On the connector's thread. */
    private void end(PlayerHold hold, End reason, HubException error) {
        Save unsaved;
        synchronized (hold) {
            if (hold.state == State.ENDED) return;
            hold.state = State.ENDED;
            hold.captured(List.copyOf(hold.asking));
            unsaved = new Save(Map.of(), hold.claims, false, false, 0, hold.waiting);
            hold.claims = new ArrayList<>();
            hold.waiting = new ArrayList<>();
        }
        if (error == null) {
            unsaved.waiting.forEach(waiting -> waiting.complete(null));
        } else {
            refused(unsaved, error);
        }
        if (reason != null && !hold.hasLeft) inGame(hold.player, () -> tell(hold, reason));
        forget(hold);
    }

    private void forget(PlayerHold hold) {
        byFence.remove(hold.fence, hold);
        holds.computeIfPresent(hold.player, (player, now) -> now == hold && hold.hasLeft ? null : now);
        hold.done.complete(null);
    }

    /** True if the same request may be answered otherwise later: data is given up only where the hub refuses the data itself. */
    private static boolean isPassing(HubException error) {
        // A gateway's own answers pass, unless it finds the data too large.
        boolean isGateway = error.is("invalid_answer") && error.status() != 413;
        return Session.isPassing(error) || error.is("unknown_server") || isGateway;
    }

    private static HubException stale() {
        return new HubException("stale_session", "The player's data is not this server's to write.");
    }

    private void later(Runnable task, HubException error, int attempt) {
        tasks.later(error.retryAfter().orElseGet(() -> DELAYS.delay(attempt)), task);
    }

    /** Hands a task to the game, which may refuse it, as for a player who is just leaving; one player holds up nobody else. */
    private void inGame(UUID player, Runnable task) {
        Tasks.guard(() -> game.runFor(player, task));
    }
}
