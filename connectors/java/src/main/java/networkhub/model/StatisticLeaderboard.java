package networkhub.model;

import java.util.List;

/**
 * The owners with the highest values of a statistic.
 *
 * @param ownerType the kind of owner
 * @param statisticName the statistic
 * @param gameMode the game mode
 * @param period the kind of period
 * @param entries highest first
 */
public record StatisticLeaderboard(
        String ownerType, String statisticName, String gameMode, Period period, List<StatisticRank> entries) {}
