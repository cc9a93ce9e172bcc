package networkhub.connector;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import networkhub.HubException;
import networkhub.RetryPolicy;

/** Repeats a call for as long as the hub is away. */
final class Persist {
    private static final RetryPolicy DELAYS = new RetryPolicy(1, Duration.ofMillis(500), Duration.ofSeconds(5));
    /** Without end. */
    static final Duration FOREVER = Duration.ofDays(3650);

    private Persist() {}

    /** The call's first answer that is no transient error, or its last error when the time is up. */
    static <T> CompletableFuture<T> call(ScheduledExecutorService thread, Duration patience, Supplier<CompletableFuture<T>> call) {
        CompletableFuture<T> result = new CompletableFuture<>();
        attempt(thread, System.nanoTime() + patience.toNanos(), call, 1, result);
        return result;
    }

    private static <T> void attempt(ScheduledExecutorService thread, long deadline, Supplier<CompletableFuture<T>> call,
            int attempt, CompletableFuture<T> result) {
        call.get().whenComplete((answer, failure) -> {
            if (failure == null) {
                result.complete(answer);
                return;
            }
            HubException error = HubException.of(failure);
            Duration delay = error.retryAfter().orElseGet(() -> DELAYS.delay(attempt));
            if (!error.isTransient() || System.nanoTime() + delay.toNanos() - deadline >= 0) {
                result.completeExceptionally(error);
                return;
            }
            try {
                thread.schedule(() -> attempt(thread, deadline, call, attempt + 1, result), delay.toMillis(),
                        TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException stopped) {
                result.completeExceptionally(error);
            }
        });
    }
}
