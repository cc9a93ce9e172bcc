package networkhub.connector;

import static java.lang.System.Logger.Level.DEBUG;
import static java.lang.System.Logger.Level.WARNING;

import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Tasks of the connector's thread. What one of them throws, be it a plugin's or the game's, ends no other. */
final class Tasks {
    private static final System.Logger LOG = System.getLogger("networkhub");

    private final ScheduledExecutorService thread;

    Tasks(ScheduledExecutorService thread) {
        this.thread = thread;
    }

    void run(Runnable task) {
        later(Duration.ZERO, task);
    }

    void later(Duration delay, Runnable task) {
        try {
            thread.schedule(() -> guard(task), delay.toMillis(), TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException stopped) {
            LOG.log(DEBUG, "the connector has stopped");
        }
    }

    void every(Duration interval, Runnable task) {
        thread.scheduleWithFixedDelay(() -> guard(task), interval.toMillis(), interval.toMillis(), TimeUnit.MILLISECONDS);
    }

    static void guard(Runnable task) {
        try {
            task.run();
        } catch (Throwable failure) {
            LOG.log(WARNING, "The connector failed at a task", failure);
        }
    }
}
