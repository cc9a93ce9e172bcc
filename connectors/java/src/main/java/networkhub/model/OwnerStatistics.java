// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

import java.util.List;

/**
 * An owner's statistics.
 *
 * @param statistics One per name and period.
 */
public record OwnerStatistics(
        String gameMode, String ownerKey, String ownerType, List<StatisticValue> statistics) {}
