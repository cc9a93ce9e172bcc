package networkhub.model;

import java.math.BigDecimal;

/**
 * What an owner has of a currency.
 *
 * @param currencyName the currency
 * @param balance exact, with at most 4 digits behind the point
 */
public record Balance(
        String currencyName, BigDecimal balance) {}
