package networkhub.model;

/**
 * A place in a statistic's leaderboard.
 *
 * @param rank 1, 2, 3 …
 * @param ownerKey the owner
 * @param value the value
 */
public record StatisticRank(
        int rank, String ownerKey, double value) {}
