package networkhub.model;

/**
 * Tells a node to boot a world.
 *
 * @param worldId the lease
 * @param fence to be sent with each callback
 * @param leaseMs how long the lease lasts from each heartbeat, in milliseconds
 * @param worldKey which of the owner's worlds
 * @param gameId the game
 * @param owner whose it is
 * @param persistence {@code PERSISTENT} or {@code EPHEMERAL}
 * @param seed what to make it from, or null
 * @param worldGen how to make it, or null
 * @param blobKey its snapshot, for nodes with a store of their own; or null
 * @param snapshotUrl its snapshot, to be fetched without a key; or null
 */
public record WorldOpenCommand(
        long worldId, long fence, long leaseMs, String worldKey, String gameId, WorldOwner owner,
        String persistence, WorldSeed seed, String worldGen, String blobKey, String snapshotUrl) {}
