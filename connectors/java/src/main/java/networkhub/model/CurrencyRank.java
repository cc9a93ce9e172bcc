// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

import java.math.BigDecimal;

/**
 * A place on a currency's leaderboard.
 *
 * @param rank 1, 2, 3 …: nobody shares one.
 */
public record CurrencyRank(
        String ownerKey, long rank, BigDecimal value) {}
