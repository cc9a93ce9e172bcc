// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

import java.util.UUID;

/**
 * A line of chat, as it is sent to the hub and as the {@code CHAT} event carries it.
 *
 * @param colorNameAlso Whether the name has the rank's color, too.
 * @param rank What is shown before the name.
 * @param serverId The server it was said on.
 * @param world The world it was said in.
 */
public record ChatMessage(
        Boolean colorNameAlso, String message, String playerName, UUID playerUuid, String rank, Boolean rankBold,
        String rankColor, String serverId, String serverType, String world) {}
