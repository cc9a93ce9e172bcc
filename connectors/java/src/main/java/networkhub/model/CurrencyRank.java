package networkhub.model;

import java.math.BigDecimal;

/**
 * A place in a currency's leaderboard.
 *
 * @param rank 1, 2, 3 …
 * @param ownerKey the owner
 * @param value the balance
 */
public record CurrencyRank(
        int rank, String ownerKey, BigDecimal value) {}
