package networkhub.connector;

import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import networkhub.HubClient;
import networkhub.HubException;
import networkhub.model.LivePlayerProfile;
import networkhub.model.PlayerSession;
import networkhub.model.PlayerSessionState;

/** Looks at who has a player's session while this server waits for it. Lives on the connector's thread. */
final class SessionWatch {
    /** Interval of looks after an outage, and how long the last save of the server before is waited for. */
    private static final Duration SAVE_INTERVAL = Duration.ofMillis(500);
    private static final Duration LAST_SAVE = Duration.ofSeconds(5);
    /** Interval of looks after this server had the session. */
    private static final Duration FREE_INTERVAL = Duration.ofSeconds(2);

    private final HubClient client;
    private final Executor thread;
    private final Tasks tasks;
    private final String serverId;

    SessionWatch(HubClient client, Executor thread, Tasks tasks, String serverId) {
        this.client = client;
        this.thread = thread;
        this.tasks = tasks;
        this.serverId = serverId;
    }

    /**
     * Goes on once the server before has closed the session, or had its time. After an outage it may have a last save to make, and is not
     * asked for it before its event stream is open again.
     */
    void whenSaved(UUID player, BooleanSupplier isAwaited, Runnable then) {
        whenSaved(player, isAwaited, then, null);
    }

    /** @param deadline by the clock of nanoseconds; null before the hub has answered */
    private void whenSaved(UUID player, BooleanSupplier isAwaited, Runnable then, Long deadline) {
        client.players().session(player).whenCompleteAsync((session, failure) -> {
            boolean isUnknown = failure != null && Session.isPassing(HubException.of(failure));
            boolean isElsewhere = failure == null && isElsewhere(session);
            long now = System.nanoTime();
            Long until = deadline == null && isElsewhere ? Long.valueOf(now + LAST_SAVE.toNanos()) : deadline;
            boolean isOver = until != null && now - until >= 0;
            if (isAwaited.getAsBoolean() && !isOver && (isUnknown || isElsewhere)) {
                tasks.later(SAVE_INTERVAL, () -> whenSaved(player, isAwaited, then, until));
            } else {
                then.run();
            }
        }, thread);
    }

    /** Goes on once no other server has the session and the player is here, by the hub's account, too; not at all if it is not awaited. */
    void whenFree(UUID player, BooleanSupplier isAwaited, Runnable then) {
        tasks.later(FREE_INTERVAL, () -> {
            if (!isAwaited.getAsBoolean()) return;
            client.players().session(player).thenCombine(client.players().get(player, null), (session, profile) ->
                    !isElsewhere(session) && profile.filter(this::isHere).isPresent()
            ).whenCompleteAsync((isFree, failure) -> {
                if (failure == null && isFree && isAwaited.getAsBoolean()) {
                    then.run();
                } else {
                    whenFree(player, isAwaited, then);
                }
            }, thread);
        });
    }

    private boolean isElsewhere(Optional<PlayerSession> session) {
        return session.filter(now -> now.state() == PlayerSessionState.OPEN && !serverId.equals(now.serverId())).isPresent();
    }

    private boolean isHere(LivePlayerProfile profile) {
        return profile.connection() != null && serverId.equals(profile.connection().serverId());
    }
}
