// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

/**
 * The value of a statistic in a period.
 *
 * @param periodStart The first day of the period, in UTC; {@code 1970-01-01} for the lifetime.
 */
public record StatisticValue(
        String gameMode, String periodStart, StatisticPeriod periodType, String statisticName, long updatedAt,
        double value) {}
