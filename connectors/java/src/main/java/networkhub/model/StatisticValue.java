package networkhub.model;

/**
 * A statistic in one period.
 *
 * @param statisticName the statistic
 * @param gameMode the game mode
 * @param periodType the kind of period
 * @param periodStart its first day in UTC, as {@code 2027-03-11}; {@code 1970-01-01} for LIFETIME
 * @param value the value
 * @param updatedAt milliseconds since the epoch
 */
public record StatisticValue(
        String statisticName, String gameMode, Period periodType, String periodStart, double value,
        long updatedAt) {}
