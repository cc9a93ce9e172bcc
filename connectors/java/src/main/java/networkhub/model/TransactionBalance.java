package networkhub.model;

import java.math.BigDecimal;

/**
 * A balance after one operation of a transaction.
 *
 * @param ownerType the kind of owner
 * @param ownerKey which one
 * @param currencyName the currency
 * @param balance what the owner has now
 * @param applied the change
 * @param ledgerId the change's row in the ledger
 */
public record TransactionBalance(
        String ownerType, String ownerKey, String currencyName, BigDecimal balance, BigDecimal applied,
        Long ledgerId) {}
