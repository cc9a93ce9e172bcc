// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

import java.util.UUID;

/**
 * A player in a list.
 *
 * @param connection Null for one who is offline.
 * @param country Two upper-case letters.
 * @param gameType The engine first said; null until one was.
 * @param lastSeen When the player was last loaded, joined a server or left one.
 * @param region Where the player is routed from; {@code UNKNOWN} until an address could be located.
 * @param username The name last said; null until one was.
 */
public record PlayerSummary(
        PlayerConnection connection, String country, long firstSeen, String gameType, long lastSeen, boolean online,
        String region, String username, UUID uuid) {}
