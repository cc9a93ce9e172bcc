// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

import java.util.Map;

/**
 * What a statistic came to.
 *
 * @param newValues By period.
 */
public record IncrementedStatistic(
        String gameMode, Map<StatisticPeriod, Double> newValues, String statisticName) {}
