package networkhub.model;

import java.util.List;

/**
 * A transaction that was applied whole.
 *
 * @param transactionId names it in the ledger
 * @param balances in the order of the operations
 */
public record MoneyTransaction(
        String transactionId, List<TransactionBalance> balances) {}
