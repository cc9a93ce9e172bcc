package networkhub.connector;

import java.util.UUID;

/** Something a player did that the hub has to learn. */
final class PlayerChange {
    enum Kind { JOIN, WORLD, LEAVE }

    final Kind kind;
    final UUID player;
    /** The player's name, where they join; else null. */
    final String name;
    final String world;
    final String previousWorld;
    final long madeAt = System.nanoTime();
    /** Idempotency key: repeats are one change. */
    private String key = UUID.randomUUID().toString();

    private PlayerChange(Kind kind, UUID player, String name, String world, String previousWorld) {
        this.kind = kind;
        this.player = player;
        this.name = name;
        this.world = world;
        this.previousWorld = previousWorld;
    }

    static PlayerChange join(UUID player, String name) {
        return new PlayerChange(Kind.JOIN, player, name, null, null);
    }

    static PlayerChange world(UUID player, String world, String previousWorld) {
        return new PlayerChange(Kind.WORLD, player, null, world, previousWorld);
    }

    static PlayerChange leave(UUID player) {
        return new PlayerChange(Kind.LEAVE, player, null, null, null);
    }

    String key() {
        return key;
    }

    /** A refusal is kept with its key, too: after one, the change needs another. */
    void renewKey() {
        key = UUID.randomUUID().toString();
    }
}
