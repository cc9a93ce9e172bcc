package networkhub.model;

import java.util.Map;

/**
 * What an increment brought a statistic to.
 *
 * @param statisticName the statistic
 * @param gameMode the game mode
 * @param newValues by period
 */
public record IncrementedStatistic(
        String statisticName, String gameMode, Map<Period, Double> newValues) {}
