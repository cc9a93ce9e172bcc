package networkhub;

import java.math.BigDecimal;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import networkhub.model.CurrencyBalance;
import networkhub.model.CurrencyLeaderboard;
import networkhub.model.IncrementedStatistic;
import networkhub.model.ModifiedBalance;
import networkhub.model.BalanceOperation;
import networkhub.model.TransactionReceipt;
import networkhub.model.OwnerStatistics;
import networkhub.model.StatisticPeriod;
import networkhub.model.StatisticLeaderboard;

/**
 * Money, and the statistics of owners that are no players. Never read a balance to decide whether to take from it: two servers
 * would both sell. {@link #spend} and {@link #transact} decide and take in one step.
 */
public final class EconomyApi {
    private final Transport transport;

    EconomyApi(Transport transport) {
        this.transport = transport;
    }

    /** All balances of an owner. */
    public CompletableFuture<List<CurrencyBalance>> balances(String ownerType, String ownerKey) {
        return transport.list(Call.get("economy", ownerType, ownerKey, "currencies"), CurrencyBalance.class);
    }

    /**
     * Adds to a balance, or takes from it. What is beyond the currency's bounds is cut off: {@code applied} tells what was
     * done. For what must not be cut, see {@link #modifyExactly}.
     *
     * @param reason for the ledger, or null
     */
    public CompletableFuture<ModifiedBalance> modify(String ownerType, String ownerKey, String currency,
            BigDecimal amount, String reason) {
        return modify(ownerType, ownerKey, currency, amount, reason, null, null);
    }

    /**
     * Adds to a balance, or takes from it, all or nothing. Fails with {@code insufficient_funds} or {@code over_maximum}, and
     * then nothing has changed.
     *
     * @param reason for the ledger, or null
     */
    public CompletableFuture<ModifiedBalance> modifyExactly(String ownerType, String ownerKey, String currency,
            BigDecimal amount, String reason) {
        return modify(ownerType, ownerKey, currency, amount, reason, true, null);
    }

    /** The same under a key of the caller's: with the same key it is made once, however often it is sent. */
    public CompletableFuture<ModifiedBalance> modifyExactly(String ownerType, String ownerKey, String currency,
            BigDecimal amount, String reason, String idempotencyKey) {
        return modify(ownerType, ownerKey, currency, amount, reason, true, idempotencyKey);
    }

    /** Takes money from a player for a purchase, or fails with {@code insufficient_funds}. */
    public CompletableFuture<ModifiedBalance> spend(UUID player, String currency, BigDecimal price, String reason) {
        return modifyExactly("player", player.toString(), currency, price.negate(), reason);
    }

    private CompletableFuture<ModifiedBalance> modify(String ownerType, String ownerKey, String currency,
            BigDecimal amount, String reason, Boolean exact, String idempotencyKey) {
        return transport.send(Call.post("economy", ownerType, ownerKey, "currencies", "modify")
                .fields("currency", currency, "amount", amount, "reason", reason, "exact", exact)
                .keyed()
                .header("Idempotency-Key", idempotencyKey), ModifiedBalance.class);
    }

    /**
     * Applies 1 to 16 changes, all or none. Fails with {@code insufficient_funds} or {@code over_maximum}; the error's
     * {@code details()} have {@code operation}, the index of the first change that was not possible.
     *
     * @param reason for the ledger, or null
     */
    public CompletableFuture<TransactionReceipt> transact(List<BalanceOperation> operations, String reason) {
        return transport.send(Call.post("economy", "transactions")
                .fields("operations", operations, "reason", reason)
                .keyed(), TransactionReceipt.class);
    }

    /** Moves money from one player to another, or fails with {@code insufficient_funds}. */
    public CompletableFuture<TransactionReceipt> pay(UUID from, UUID to, String currency, BigDecimal amount,
            String reason) {
        return transact(List.of(
                ofPlayer(from, currency, amount.negate()),
                ofPlayer(to, currency, amount)), reason);
    }

    private static BalanceOperation ofPlayer(UUID player, String currency, BigDecimal amount) {
        return BalanceOperation.builder()
                .ownerType("player")
                .ownerKey(player.toString())
                .currency(currency)
                .amount(amount)
                .build();
    }

    /** The owners of a type who have most of a currency; null is {@code player}. */
    public CompletableFuture<CurrencyLeaderboard> currencyLeaderboard(String currency, String ownerType, int limit) {
        return transport.send(Call.get("economy", "currencies", "leaderboard")
                .query("currency", currency)
                .query("ownerType", ownerType)
                .query("limit", limit), CurrencyLeaderboard.class);
    }

    /** The owners of a type with the highest values of a statistic. Null is {@code global}, LIFETIME and {@code player}. */
    public CompletableFuture<StatisticLeaderboard> statisticLeaderboard(String name, String gameMode, StatisticPeriod period,
            String ownerType, int limit) {
        return transport.send(Call.get("economy", "leaderboard")
                .query("name", name)
                .query("gameMode", gameMode)
                .query("period", period)
                .query("ownerType", ownerType)
                .query("limit", limit), StatisticLeaderboard.class);
    }

    /** An owner's statistics; null is the game mode {@code global}. */
    public CompletableFuture<OwnerStatistics> statistics(String ownerType, String ownerKey, String gameMode) {
        return transport.send(Call.get("economy", ownerType, ownerKey, "statistics").query("gameMode", gameMode),
                OwnerStatistics.class);
    }

    /** Adds to an owner's statistic; null is the game mode {@code global}. */
    public CompletableFuture<IncrementedStatistic> increment(String ownerType, String ownerKey, String name,
            double amount, String gameMode) {
        return transport.send(Call.post("economy", ownerType, ownerKey, "statistics", "increment")
                .fields("name", name, "gameMode", gameMode, "amount", amount)
                .keyed(), IncrementedStatistic.class);
    }
}
