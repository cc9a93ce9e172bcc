package networkhub.model;

/**
 * Where a player is.
 *
 * @param serverId the server
 * @param serverType its type
 * @param worldId the world on it, or null
 */
public record PlayerConnection(
        String serverId, String serverType, String worldId) {}
