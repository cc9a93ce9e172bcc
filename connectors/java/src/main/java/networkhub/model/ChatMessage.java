package networkhub.model;

import java.util.UUID;

/**
 * A line of the network's chat.
 *
 * @param playerUuid who says it
 * @param playerName who says it
 * @param message 1 to 1,024 characters
 * @param serverId where it is said
 * @param serverType the server's type, or null
 * @param world the world, or null
 * @param rank the rank in front of the name, or null
 * @param rankColor its color, or null
 * @param rankBold whether it is bold, or null
 * @param colorNameAlso whether the name has the color, too, or null
 */
public record ChatMessage(
        UUID playerUuid, String playerName, String message, String serverId, String serverType, String world,
        String rank, String rankColor, Boolean rankBold, Boolean colorNameAlso) {}
