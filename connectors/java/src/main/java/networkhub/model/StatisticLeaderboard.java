// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

import java.util.List;

/** Who has most of a statistic. */
public record StatisticLeaderboard(
        List<StatisticRank> entries, String gameMode, String ownerType, StatisticPeriod period, String statisticName) {}
