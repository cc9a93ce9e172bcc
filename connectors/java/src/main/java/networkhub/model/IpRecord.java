package networkhub.model;

/**
 * An address a player was seen with.
 *
 * @param ipAddress the address
 * @param firstSeen milliseconds since the epoch
 * @param lastSeen milliseconds since the epoch
 * @param region its region, or null
 * @param country its country, or null
 * @param geoResolvedAt when it was located, in milliseconds since the epoch, or null
 */
public record IpRecord(
        String ipAddress, long firstSeen, long lastSeen, String region, String country, Long geoResolvedAt) {}
