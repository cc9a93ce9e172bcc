package networkhub.connector;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import networkhub.HubException;

/** A player's session at this server, from the join to the confirmed end. What several threads use is guarded by its monitor. */
final class PlayerHold {
    /** Steps in the life of a session, in their order. */
    enum State {
        /** The hub is asked for it. */
        OPENING,
        /** The hub gave it; its data waits for the player's thread. */
        OPENED,
        /** Its data is being put into the game. */
        APPLYING,
        /** The player plays with it. */
        OPEN,
        /** Its data is being taken out of the game for the last time. */
        CAPTURING,
        /** The last save is under way; nothing changes any more. */
        CLOSING,
        /** It is no longer this server's. */
        ENDED
    }

    final UUID player;
    final String name;
    /** Completes at its end, however it ends. */
    final CompletableFuture<Void> done = new CompletableFuture<>();

    State state = State.OPENING;
    /** 0 while it is not known. */
    long fence;
    /** True once the player has left this server. */
    volatile boolean hasLeft;
    /** True if the plugin's data belongs to it: it was applied. */
    boolean isApplied;
    /** True if the plugin could not apply its data; it is not tried again while the player stays. */
    boolean isUnusable;
    /** True if it is to be closed as soon as its data was applied. */
    boolean isWantedBack;
    /** What the plugin has, by namespace. */
    final Map<String, String> current = new HashMap<>();
    /** What the hub has confirmed. */
    final Map<String, String> stored = new HashMap<>();
    /** Claims whose effects are in {@link #current} and not saved yet. */
    List<DataClaim> claims = new ArrayList<>();
    /** Callers who wait for a capture and its save. */
    final List<CompletableFuture<Void>> asking = new ArrayList<>();
    /** Callers who wait for the next save. */
    List<CompletableFuture<Void>> waiting = new ArrayList<>();
    /** True while a save is under way. */
    boolean isSaving;
    /** Number of the last save. */
    long number;
    /** Time of the next save by itself. */
    long nextSave;

    PlayerHold(UUID player, String name) {
        this.player = player;
        this.name = name;
    }

    synchronized boolean isAt(State expected) {
        return state == expected;
    }

    /** Asks for a save; false where the session is not open. */
    synchronized boolean asks(CompletableFuture<Void> saved) {
        return state == State.OPEN && asking.add(saved);
    }

    /** The next save has what these asked for. */
    synchronized void captured(List<CompletableFuture<Void>> asked) {
        asking.removeAll(asked);
        waiting.addAll(asked);
    }

    /** What has changed since the last confirmed save. */
    synchronized Map<String, String> changes() {
        Map<String, String> changes = new HashMap<>(current);
        changes.entrySet().removeIf(entry -> entry.getValue().equals(stored.get(entry.getKey())));
        return changes;
    }

    /** A delivery whose effect is part of the player's data. */
    interface DataClaim {
        String claim();

        /** The save that carries it out is confirmed. */
        void settled();

        /** The data was saved, but the claim was good no longer, or a claim beside it. */
        void savedAlone();

        /** The hub does not take the data, but the effect is in the game. */
        void refused(HubException error);

        /** The data was not saved, so the effect is gone. */
        void lost();
    }
}
