package networkhub;

import static org.junit.jupiter.api.Assertions.fail;

import java.time.Duration;
import java.util.concurrent.Callable;

/** Waits for what happens soon. */
public final class Eventually {
    private Eventually() {}

    /** Returns when the condition holds; fails after 20 seconds. */
    public static void eventually(String what, Callable<Boolean> condition) throws Exception {
        within(Duration.ofSeconds(60), what, condition);
    }

    public static void within(Duration patience, String what, Callable<Boolean> condition) throws Exception {
        long deadline = System.nanoTime() + patience.toNanos();
        while (!condition.call()) {
            if (System.nanoTime() - deadline > 0) fail("it did not happen: " + what);
            Thread.sleep(20);
        }
    }
}
