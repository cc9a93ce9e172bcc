package networkhub.connector;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import networkhub.HubException;

/**
 * Makes saves one at a time while the hub is away, in quick succession: after an outage they have to be there soon. Another server that
 * asks for a player then waits half a second for a server whose event stream is not open yet. Lives on the connector's thread.
 */
final class SaveLink {
    private static final Duration PROBE = Duration.ofMillis(300);

    private final Executor thread;
    private final Tasks tasks;
    private final Deque<Runnable> waiting = new ArrayDeque<>();
    private boolean isAway;
    private boolean isProbing;

    SaveLink(Executor thread, Tasks tasks) {
        this.thread = thread;
        this.tasks = tasks;
    }

    /** The answer to a call, once it is its turn. */
    <T> CompletableFuture<T> reached(Supplier<CompletableFuture<T>> call) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        if (isAway) {
            waiting.add(() -> attempt(call, answer, true));
            probe();
        } else {
            attempt(call, answer, false);
        }
        return answer;
    }

    private void probe() {
        if (isProbing || waiting.isEmpty()) return;
        isProbing = true;
        tasks.later(PROBE, () -> {
            Runnable next = waiting.poll();
            if (next == null) {
                isProbing = false;
            } else {
                next.run();
            }
        });
    }

    private <T> void attempt(Supplier<CompletableFuture<T>> call, CompletableFuture<T> answer, boolean isProbe) {
        call.get().whenCompleteAsync((value, failure) -> {
            isAway = failure != null && HubException.of(failure).isTransient();
            if (isProbe) isProbing = false;
            // May ask for its next attempt.
            if (failure == null) {
                answer.complete(value);
            } else {
                answer.completeExceptionally(failure);
            }
            if (isAway) {
                probe();
            } else {
                for (Runnable next = waiting.poll(); next != null; next = waiting.poll()) next.run();
            }
        }, thread);
    }
}
