package networkhub.model;

/**
 * The answer to a registration.
 *
 * @param serverId the server
 * @param heartbeatIntervalMs how often to send a heartbeat, in milliseconds
 * @param offlineAfterMs the silence after which the hub takes the server for offline, in milliseconds
 * @param signingSecret verifies transfer commands; the network's, so keep it secret
 */
public record Registered(
        String serverId, long heartbeatIntervalMs, long offlineAfterMs, String signingSecret) {}
