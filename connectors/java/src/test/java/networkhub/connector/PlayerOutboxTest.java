package networkhub.connector;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.UUID;
import org.junit.jupiter.api.Test;

class PlayerOutboxTest {
    private final UUID ann = UUID.randomUUID();
    private final UUID ben = UUID.randomUUID();

    @Test
    void changesStayInOrderUntilTheyAreRemoved() {
        PlayerOutbox outbox = new PlayerOutbox(10);
        PlayerChange join = PlayerChange.join(ann, "Ann");
        PlayerChange leave = PlayerChange.leave(ann);
        outbox.add(join);
        outbox.add(PlayerChange.join(ben, "Ben"));
        outbox.add(leave);
        assertSame(join, outbox.peek());
        assertSame(join, outbox.peek());
        assertSame(leave, outbox.endOf(join));
        outbox.remove(join);
        assertEquals(ben, outbox.peek().player);
        assertNull(outbox.endOf(outbox.peek()));
        assertTrue(outbox.concerns(ann));
    }

    @Test
    void aVisitIsRemovedWithItsWorlds() {
        PlayerOutbox outbox = new PlayerOutbox(10);
        PlayerChange join = PlayerChange.join(ann, "Ann");
        PlayerChange leave = PlayerChange.leave(ann);
        PlayerChange again = PlayerChange.join(ann, "Ann");
        outbox.add(join);
        outbox.add(PlayerChange.world(ann, "nether", "world"));
        outbox.add(PlayerChange.join(ben, "Ben"));
        outbox.add(leave);
        outbox.add(again);
        outbox.removeVisit(join, leave);
        assertEquals(2, outbox.size());
        outbox.remove(outbox.peek());
        assertSame(again, outbox.peek());
    }

    @Test
    void onlyTheLastOfSeveralWorldsIsKept() {
        PlayerOutbox outbox = new PlayerOutbox(10);
        PlayerChange first = PlayerChange.join(ann, "Ann");
        outbox.add(first);
        outbox.add(PlayerChange.world(ann, "a", null));
        outbox.add(PlayerChange.world(ann, "b", "a"));
        outbox.remove(first);
        assertEquals(1, outbox.size());
        assertEquals("b", outbox.peek().world);
    }

    @Test
    void beyondItsCapacityFinishedVisitsAreDropped() {
        PlayerOutbox outbox = new PlayerOutbox(4);
        PlayerChange first = PlayerChange.join(ben, "Ben");
        outbox.add(first);
        outbox.add(PlayerChange.join(ann, "Ann"));
        outbox.add(PlayerChange.leave(ann));
        outbox.add(PlayerChange.join(ann, "Ann"));
        assertEquals(2, outbox.add(PlayerChange.leave(ben)));
        assertSame(first, outbox.peek());
        assertEquals(3, outbox.size());
    }

    @Test
    void aRefusedChangeGetsAnotherKey() {
        PlayerChange join = PlayerChange.join(ann, "Ann");
        String key = join.key();
        assertEquals(key, join.key());
        join.renewKey();
        assertNotEquals(key, join.key());
    }
}
