package networkhub.connector;

import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;

/** The hub's time, by its pings: a server's own clock may be wrong by more than a command is good for. Any thread may ask for it. */
final class HubClock {
    private static final int KEPT = 4;

    private final Deque<Long> offsets = new ArrayDeque<>();
    private volatile long offset;

    /** A ping that was sent at this time came just now. On the connector's thread. */
    void ping(long sentAt) {
        offsets.add(sentAt - System.currentTimeMillis());
        if (offsets.size() > KEPT) offsets.poll();
        // The least delayed ping is the most exact.
        offset = Collections.max(offsets);
    }

    /** Milliseconds since the epoch. */
    long now() {
        return System.currentTimeMillis() + offset;
    }
}
