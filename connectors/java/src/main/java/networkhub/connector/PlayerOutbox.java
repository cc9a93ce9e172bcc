package networkhub.connector;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.UUID;
import networkhub.connector.PlayerChange.Kind;

/**
 * The changes of players that the hub has not confirmed, in the order they happened. They stay until it does, however long it
 * is away. Not thread-safe.
 */
final class PlayerOutbox {
    private final Deque<PlayerChange> changes = new ArrayDeque<>();
    private final int capacity;

    PlayerOutbox(int capacity) {
        this.capacity = capacity;
    }

    /** Adds a change. Returns the number of those dropped to make room: visits that are over, and changes of worlds. */
    int add(PlayerChange change) {
        // Of several changes of world in a row the last one counts.
        PlayerChange last = changes.peekLast();
        if (change.kind == Kind.WORLD && changes.size() > 1 && last.kind == Kind.WORLD && last.player.equals(change.player)) {
            changes.pollLast();
        }
        changes.add(change);
        return changes.size() > capacity ? dropFinishedVisits() : 0;
    }

    PlayerChange peek() {
        return changes.peek();
    }

    /** Removes a change that the hub has confirmed or refused. */
    void remove(PlayerChange change) {
        changes.remove(change);
    }

    /** The leave that ends the visit which begins with this join; null while the player is here. */
    PlayerChange endOf(PlayerChange join) {
        boolean after = false;
        for (PlayerChange change : changes) {
            if (after && change.kind == Kind.LEAVE && change.player.equals(join.player)) return change;
            after |= change == join;
        }
        return null;
    }

    /** Removes everything a player did from one change to another. */
    void removeVisit(PlayerChange join, PlayerChange leave) {
        boolean within = false;
        for (Iterator<PlayerChange> all = changes.iterator(); all.hasNext(); ) {
            PlayerChange change = all.next();
            within |= change == join;
            if (within && change.player.equals(join.player)) all.remove();
            if (change == leave) return;
        }
    }

    boolean isEmpty() {
        return changes.isEmpty();
    }

    boolean concerns(UUID player) {
        return changes.stream().anyMatch(change -> change.player.equals(player));
    }

    int size() {
        return changes.size();
    }

    private int dropFinishedVisits() {
        int before = changes.size();
        // The first one may be under way.
        PlayerChange first = changes.poll();
        Map<UUID, PlayerChange> joins = new HashMap<>();
        changes.removeIf(change -> change.kind == Kind.WORLD);
        for (PlayerChange change : changes.toArray(PlayerChange[]::new)) {
            if (change.kind == Kind.JOIN) {
                joins.put(change.player, change);
            } else if (joins.containsKey(change.player)) {
                changes.remove(joins.remove(change.player));
                changes.remove(change);
            }
        }
        changes.addFirst(first);
        return before - changes.size();
    }
}
