package networkhub.model;

import java.util.UUID;

/**
 * A player who is on a server.
 *
 * @param playerUuid the player
 * @param playerName the name, or null
 * @param serverId the server
 * @param serverType its type
 */
public record OnlinePlayer(
        UUID playerUuid, String playerName, String serverId, String serverType) {}
