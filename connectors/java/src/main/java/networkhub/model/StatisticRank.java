// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

/**
 * A place on a statistic's leaderboard.
 *
 * @param rank 1, 2, 3 …: nobody shares one.
 */
public record StatisticRank(
        String ownerKey, long rank, double value) {}
