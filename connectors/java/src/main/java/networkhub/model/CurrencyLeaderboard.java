// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

import java.util.List;

/** Who has most of a currency. */
public record CurrencyLeaderboard(
        String currencyName, List<CurrencyRank> entries, String ownerType) {}
