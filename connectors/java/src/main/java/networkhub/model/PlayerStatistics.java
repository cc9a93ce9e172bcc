// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

import java.util.List;
import java.util.UUID;

/**
 * A player's statistics.
 *
 * @param statistics One per name and period.
 */
public record PlayerStatistics(
        String gameMode, UUID playerUuid, List<StatisticValue> statistics) {}
