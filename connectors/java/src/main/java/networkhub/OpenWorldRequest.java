package networkhub;

import java.util.UUID;
import networkhub.model.WorldSeed;

/**
 * A world to be opened for its owner.
 *
 * <pre>{@code OpenWorldRequest.forPlayer("islands", uuid).key("nether")}</pre>
 */
public final class OpenWorldRequest {
    private final String gameId;
    private final String ownerScope;
    private final String ownerId;
    private String worldKey;
    private String preferNode;
    private WorldSeed seed;
    private String persistence;
    private String worldGen;

    private OpenWorldRequest(String gameId, String ownerScope, String ownerId) {
        this.gameId = gameId;
        this.ownerScope = ownerScope;
        this.ownerId = ownerId;
    }

    /** A world of any owner. */
    public static OpenWorldRequest of(String gameId, String ownerScope, String ownerId) {
        return new OpenWorldRequest(gameId, ownerScope, ownerId);
    }

    /** A player's world; a slot for them is reserved when it is up. */
    public static OpenWorldRequest forPlayer(String gameId, UUID player) {
        return of(gameId, "player", player.toString());
    }

    /** Which of the owner's worlds; unset, {@code default}. */
    public OpenWorldRequest key(String worldKey) {
        this.worldKey = worldKey;
        return this;
    }

    /** The server to run it on, if it has room. */
    public OpenWorldRequest preferNode(String serverId) {
        this.preferNode = serverId;
        return this;
    }

    /** What a new world is made from. */
    public OpenWorldRequest seed(WorldSeed seed) {
        this.seed = seed;
        return this;
    }

    /** It is not saved. */
    public OpenWorldRequest ephemeral() {
        this.persistence = "EPHEMERAL";
        return this;
    }

    /** How a new world is made. */
    public OpenWorldRequest worldGen(String worldGen) {
        this.worldGen = worldGen;
        return this;
    }
}
