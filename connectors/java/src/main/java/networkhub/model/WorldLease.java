// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

/**
 * A lease as it stands.
 *
 * @param expiresAt When it runs out; meaningless for one that has ended.
 * @param fence Sent along by the node with each callback.
 * @param leaseMs How long it lasts from each heartbeat.
 * @param nodeServerId The node that holds it; null while it waits for the lease before it to end.
 * @param playerCount Players in it, as its node last said.
 * @param worldInstanceId The lease's number, as text.
 */
public record WorldLease(
        long expiresAt, long fence, long leaseMs, String nodeServerId, long playerCount, WorldLeaseState state,
        String worldInstanceId) {}
