package networkhub.model;

import java.math.BigDecimal;

/**
 * A balance after a change.
 *
 * @param currencyName the currency
 * @param balance what the owner has now
 * @param asked the change that was asked for
 * @param applied the change that was made; less where it was cut at the currency's bounds
 * @param ledgerId the change's row in the ledger
 */
public record ModifiedBalance(
        String currencyName, BigDecimal balance, BigDecimal asked, BigDecimal applied, Long ledgerId) {}
