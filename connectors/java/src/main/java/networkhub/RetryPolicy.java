package networkhub;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Policy for repeats of calls that may be repeated safely: how often, and how far apart. The wait doubles with each
 * attempt and is random between half and all of it, so that many servers do not come at once after an outage.
 *
 * @param attempts how often a call is made in all; 1 never repeats it
 * @param firstDelay the wait after the first attempt
 * @param maxDelay no wait is longer; where the hub asks for more, the call fails and the error says for how much
 */
public record RetryPolicy(int attempts, Duration firstDelay, Duration maxDelay) {
    /** Four attempts, after 250 ms, 500 ms and 1 s. */
    public static final RetryPolicy DEFAULT = new RetryPolicy(4, Duration.ofMillis(250), Duration.ofSeconds(5));
    /** Each call once. */
    public static final RetryPolicy NONE = new RetryPolicy(1, Duration.ofMillis(250), Duration.ofSeconds(5));

    /** Checks the numbers. */
    public RetryPolicy {
        if (attempts < 1 || firstDelay.isNegative() || maxDelay.isNegative()) {
            throw new IllegalArgumentException("a retry policy needs one attempt or more and delays of 0 or more");
        }
    }

    /** The wait after so many failures in a row, from 1. */
    public Duration delay(int failures) {
        double factor = Math.pow(2, Math.min(failures, 30) - 1.0);
        double most = Math.min(firstDelay.toMillis() * factor, maxDelay.toMillis());
        return Duration.ofMillis((long) (most * (0.5 + ThreadLocalRandom.current().nextDouble() / 2)));
    }
}
