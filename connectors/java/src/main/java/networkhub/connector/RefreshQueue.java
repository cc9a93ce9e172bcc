package networkhub.connector;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Function;
import networkhub.HubException;

/**
 * Players whose cached state has to be read again. One at a time, so that a change that concerns everybody is no rush of
 * requests. Lives on the connector's thread.
 */
final class RefreshQueue {
    private static final System.Logger LOG = System.getLogger("networkhub");

    private final ScheduledExecutorService thread;
    private final Function<UUID, CompletableFuture<?>> refresh;
    private final Deque<UUID> waiting = new ArrayDeque<>();
    private boolean isBusy;

    RefreshQueue(ScheduledExecutorService thread, Function<UUID, CompletableFuture<?>> refresh) {
        this.thread = thread;
        this.refresh = refresh;
    }

    void add(UUID player) {
        if (!waiting.contains(player)) waiting.add(player);
        next();
    }

    void addAll(Collection<UUID> players) {
        players.forEach(this::add);
    }

    private void next() {
        UUID player = isBusy ? null : waiting.poll();
        if (player == null) return;
        isBusy = true;
        Persist.call(thread, Persist.FOREVER, () -> refresh.apply(player).thenApply(answer -> (Object) answer))
                .whenCompleteAsync((answer, failure) -> {
                    isBusy = false;
                    if (failure != null) {
                        LOG.log(System.Logger.Level.WARNING, "Reading the state of player {0} failed: {1}", player,
                                HubException.of(failure).getMessage());
                    }
                    next();
                }, thread);
    }
}
