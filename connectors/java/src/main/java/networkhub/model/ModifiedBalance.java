// Generated from the hub's OpenAPI document by connectors/generate.
package networkhub.model;

import java.math.BigDecimal;

/**
 * A balance after a change.
 *
 * @param applied What was added: less, where it was cut to the currency's bounds.
 * @param asked What was to be added.
 * @param balance After the change.
 * @param ledgerId The id of the change's ledger entry.
 */
public record ModifiedBalance(
        BigDecimal applied, BigDecimal asked, BigDecimal balance, String currencyName, long ledgerId) {}
