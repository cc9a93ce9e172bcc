package networkhub.connector;

import static java.lang.System.Logger.Level.INFO;
import static java.lang.System.Logger.Level.WARNING;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import networkhub.HubClient;
import networkhub.HubException;
import networkhub.RetryPolicy;
import networkhub.ServerState;
import networkhub.model.HeartbeatPlayer;
import networkhub.model.LivePlayerProfile;
import networkhub.model.ServerRegistration;
import networkhub.model.ServerSession;

/**
 * The server's presence at the hub: registration, heartbeats and the changes of players. One request at a time, so that the hub
 * sees everything in the order it happened. Lives on the connector's thread.
 */
final class Session {
    private static final System.Logger LOG = System.getLogger("networkhub");
    private static final RetryPolicy DELAYS = new RetryPolicy(1, Duration.ofMillis(250), Duration.ofSeconds(5));
    /** Short, so that several heartbeats fit in before the hub takes the server for offline. */
    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    /** Time that is left for taking the server offline, of the patience at a stop. */
    private static final Duration UNREGISTERING = Duration.ofSeconds(1);
    private static final int OUTBOX_CAPACITY = 20_000;
    /** A visit that is older may be over because the player is on another server by now. */
    private static final long RECENT_NANOS = TimeUnit.SECONDS.toNanos(2);
    /** From a change of state to the heartbeat that reports it, so that several changes are one. */
    private static final long STATE_DELAY_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final HubClient client;
    private final ScheduledExecutorService thread;
    private final ServerRegistration info;
    private final Runnable onRegistering;
    private final Consumer<ServerSession> onRegistered;

    private final PlayerOutbox outbox = new PlayerOutbox(OUTBOX_CAPACITY);
    /** Players that were reported to the hub. */
    private final Map<UUID, String> reported = new LinkedHashMap<>();
    private ServerState state;
    private boolean isBusy;
    private boolean isStopped;
    // Other threads read these, too.
    private volatile boolean isRegistered;
    private volatile int failures;
    private volatile HubException lastError;
    private volatile int pendingChanges;
    private long notBefore;
    private long intervalNanos = TimeUnit.SECONDS.toNanos(5);
    private long nextBeat;
    private ScheduledFuture<?> wakeUp;
    private CompletableFuture<Void> stopping;
    private long stopDeadline;

    Session(HubClient client, ScheduledExecutorService thread, ServerRegistration info, ServerState state,
            Runnable onRegistering, Consumer<ServerSession> onRegistered) {
        // Repeats are made here, where their order is known.
        this.client = client.withRetries(RetryPolicy.NONE).withTimeout(TIMEOUT);
        this.thread = thread;
        this.info = info;
        this.state = state;
        this.onRegistering = onRegistering;
        this.onRegistered = onRegistered;
        this.notBefore = System.nanoTime();
        this.nextBeat = notBefore;
    }

    void start() {
        pump();
    }

    void add(PlayerChange change) {
        if (stopping != null) return;
        int dropped = outbox.add(change);
        if (dropped > 0) LOG.log(WARNING, "The hub was away for so long that {0} changes of players were dropped", dropped);
        pump();
    }

    void setState(ServerState state) {
        this.state = state;
        nextBeat = Math.min(nextBeat, System.nanoTime() + STATE_DELAY_NANOS);
        pump();
    }

    /** Registers again, to learn of changes since. */
    void registerAgain() {
        isRegistered = false;
        pump();
    }

    boolean isRegistered() {
        return isRegistered;
    }

    /** True if the latest requests failed. */
    boolean isAway() {
        return failures > 0;
    }

    /** Last error; null while there is none. */
    HubException lastError() {
        return lastError;
    }

    int pendingChanges() {
        return pendingChanges;
    }

    boolean hasPendingChanges(UUID player) {
        return outbox.concerns(player);
    }

    /** Reports what is waiting and takes the server offline, as far as there is patience. */
    CompletableFuture<Void> stop(Duration patience) {
        if (stopping == null) {
            stopping = new CompletableFuture<>();
            stopDeadline = System.nanoTime() + patience.toNanos();
            thread.schedule(this::unregister, patience.minus(UNREGISTERING).toMillis(), TimeUnit.MILLISECONDS);
            pump();
        }
        return stopping;
    }

    /** Sends the next request if it is due. */
    private void pump() {
        pendingChanges = outbox.size();
        if (isBusy || isStopped) return;
        long now = System.nanoTime();
        if (now - notBefore < 0) {
            wakeUpAt(notBefore);
        } else if (!isRegistered) {
            register();
        } else if (!outbox.isEmpty() && now - (nextBeat + intervalNanos) < 0) {
            report(outbox.peek());
        } else if (stopping != null && outbox.isEmpty()) {
            unregister();
        } else if (now - nextBeat >= 0) {
            beat();
        } else {
            wakeUpAt(nextBeat);
        }
    }

    private void wakeUpAt(long nanos) {
        if (wakeUp != null) wakeUp.cancel(false);
        wakeUp = thread.schedule(this::pump, nanos - System.nanoTime(), TimeUnit.NANOSECONDS);
    }

    private void register() {
        onRegistering.run();
        request(client.servers().register(info, state), registered -> {
            isRegistered = true;
            intervalNanos = TimeUnit.MILLISECONDS.toNanos(Math.max(1, registered.heartbeatIntervalMs()));
            nextBeat = System.nanoTime();
            onRegistered.accept(registered);
        }, error -> delay(error));
    }

    private void beat() {
        List<HeartbeatPlayer> players =
                reported.entrySet().stream().map(player -> new HeartbeatPlayer(player.getValue(), player.getKey())).toList();
        nextBeat = System.nanoTime() + intervalNanos;
        request(client.servers().heartbeat(info.serverId(), state, players), nothing -> { }, error -> {
            nextBeat = System.nanoTime();
            delay(error);
        });
    }

    private void report(PlayerChange change) {
        PlayerChange leave = change.kind == PlayerChange.Kind.JOIN ? outbox.endOf(change) : null;
        if (leave != null && System.nanoTime() - change.madeAt > RECENT_NANOS) {
            reportPastVisit(change, leave);
        } else {
            send(change);
        }
    }

    private void send(PlayerChange change) {
        String server = info.serverId();
        CompletableFuture<Void> sent = switch (change.kind) {
            case JOIN -> client.servers().join(server, change.player, change.name, change.key());
            case WORLD -> client.servers().changeWorld(server, change.player, change.world, change.previousWorld);
            case LEAVE -> client.servers().leave(server, change.player);
        };
        request(sent, nothing -> confirm(change), error -> refused(change, error));
    }

    private void confirm(PlayerChange change) {
        outbox.remove(change);
        if (change.kind == PlayerChange.Kind.JOIN) reported.put(change.player, change.name);
        if (change.kind == PlayerChange.Kind.LEAVE) reported.remove(change.player);
    }

    private void refused(PlayerChange change, HubException error) {
        if (error.is("answer_not_kept")) {
            confirm(change);
        } else if (error.is("unknown_server")) {
            change.renewKey();
            isRegistered = false;
        } else if (isPassing(error)) {
            delay(error);
        } else {
            LOG.log(WARNING, "The hub refused a {0} of player {1}: {2}", change.kind, change.player, error.getMessage());
            outbox.remove(change);
            if (change.kind == PlayerChange.Kind.LEAVE) reported.remove(change.player);
        }
    }

    /**
     * A player came and went while the hub was away. If they are on another server by now, telling of the join would move them back;
     * then only the sighting is reported.
     */
    private void reportPastVisit(PlayerChange join, PlayerChange leave) {
        request(client.players().get(join.player, null), profile -> {
            boolean elsewhere = profile.map(LivePlayerProfile::connection)
                    .filter(connection -> !connection.serverId().equals(info.serverId()))
                    .isPresent();
            if (elsewhere) {
                outbox.removeVisit(join, leave);
                reported.remove(join.player);
                Persist.call(thread, Duration.ofMinutes(1), () ->
                        client.players().load(join.player, join.name, null, null, null, List.of()));
            } else {
                send(join);
            }
        }, error -> refused(join, error));
    }

    private void unregister() {
        if (isStopped) return;
        isStopped = true;
        if (wakeUp != null) wakeUp.cancel(false);
        Duration left = Duration.ofNanos(Math.max(UNREGISTERING.toNanos(), stopDeadline - System.nanoTime()));
        client.withTimeout(left).servers().unregister(info.serverId())
                .whenCompleteAsync((nothing, failure) -> stopping.complete(null), thread);
    }

    private <T> void request(CompletableFuture<T> request, Consumer<T> done, Consumer<HubException> failed) {
        isBusy = true;
        request.whenCompleteAsync((answer, failure) -> {
            isBusy = false;
            if (failure == null) {
                if (failures > 0) LOG.log(INFO, "The hub answers again; {0} changes of players to report", outbox.size());
                failures = 0;
                lastError = null;
                done.accept(answer);
            } else {
                failed.accept(HubException.of(failure));
            }
            pump();
        }, thread);
    }

    /** True if the error may pass, by itself or once the key is right. */
    static boolean isPassing(HubException error) {
        boolean isKey = error.status() == 401 || error.status() == 403 && !error.is("quota_exceeded");
        return error.isTransient() || error.status() >= 500 || isKey || error.is("client_error");
    }

    private void delay(HubException error) {
        if (error.is("unknown_server")) {
            isRegistered = false;
            return;
        }
        failures = failures + 1;
        lastError = error;
        if (failures == 1) LOG.log(WARNING, "The hub cannot be told of this server: {0}", error.getMessage());
        Duration delay = error.retryAfter().orElseGet(() -> DELAYS.delay(failures));
        notBefore = System.nanoTime() + delay.toNanos();
    }
}
