package networkhub.model;

import java.util.List;

/**
 * The owners who have most of a currency.
 *
 * @param ownerType the kind of owner
 * @param currencyName the currency
 * @param entries highest first
 */
public record CurrencyLeaderboard(
        String ownerType, String currencyName, List<CurrencyRank> entries) {}
