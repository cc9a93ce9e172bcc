package networkhub.model;

import java.util.UUID;

/**
 * A player in a list.
 *
 * @param uuid the player
 * @param username the name last seen, or null
 * @param gameType the engine of the first sight, or null
 * @param firstSeen milliseconds since the epoch
 * @param lastSeen milliseconds since the epoch
 * @param online whether the player is on a server
 * @param connection where, if online
 * @param region the region last located, or {@code UNKNOWN}
 * @param country the country last located, or null
 */
public record PlayerSummary(
        UUID uuid, String username, String gameType, long firstSeen, long lastSeen, boolean online,
        PlayerConnection connection, String region, String country) {}
