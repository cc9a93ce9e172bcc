// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

/**
 * An address a player was seen with.
 *
 * @param country Two upper-case letters.
 * @param geoResolvedAt When it was located: addresses are looked up as they are read. Null where it could not be.
 * @param region Null where it could not be located.
 */
public record IpRecord(
        String country, long firstSeen, Long geoResolvedAt, String ipAddress, long lastSeen, String region) {}
