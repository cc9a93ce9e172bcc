package networkhub.model;

import java.math.BigDecimal;

/**
 * One change of a transaction. Negative takes, positive gives.
 *
 * @param ownerType the kind of owner, such as {@code player}
 * @param ownerKey which one; a player's UUID
 * @param currency the currency
 * @param amount the change
 */
public record MoneyOperation(
        String ownerType, String ownerKey, String currency, BigDecimal amount) {}
