package networkhub.connector;

import java.util.ArrayDeque;
import java.util.Deque;

/** The hub's time, by its pings: a server's own clock may be wrong by more than a command is good for. Not thread-safe. */
final class HubClock {
    private static final int KEPT = 4;

    private final Deque<Long> offsets = new ArrayDeque<>();

    /** A ping that was sent at this time came just now. */
    void ping(long sentAt) {
        offsets.add(sentAt - System.currentTimeMillis());
        if (offsets.size() > KEPT) offsets.poll();
    }

    /** Milliseconds since the epoch. The ping that was delayed least tells best. */
    long now() {
        return System.currentTimeMillis() + offsets.stream().mapToLong(Long::longValue).max().orElse(0);
    }
}
