package networkhub.model;

/**
 * The right to run a world, as it stands.
 *
 * @param worldInstanceId the lease, as text
 * @param state {@code LOADING}, {@code READY}, {@code DRAINING}, {@code UNLOADED} or {@code LOST}
 * @param fence to be sent with each callback
 * @param nodeServerId the node that holds it; null while it waits
 * @param playerCount players in it
 * @param leaseMs how long it lasts from each heartbeat, in milliseconds
 * @param expiresAt milliseconds since the epoch
 */
public record WorldLease(
        String worldInstanceId, String state, long fence, String nodeServerId, int playerCount, long leaseMs,
        long expiresAt) {}
