package networkhub.model;

/**
 * The servers and players of a region.
 *
 * @param region the region, or {@code UNKNOWN}
 * @param servers servers that players can be sent to
 * @param players players on them
 */
public record RegionCount(
        String region, int servers, int players) {}
