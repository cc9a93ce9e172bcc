package networkhub.plugin;

import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import networkhub.EconomyApi;
import networkhub.HubException;
import networkhub.model.CurrencyBalance;

/** /balance and /pay. */
final class MoneyCommands {
    private final Commands commands;
    private final Platform platform;

    MoneyCommands(Commands commands, Platform platform) {
        this.commands = commands;
        this.platform = platform;
    }

    List<HubCommand> commands() {
        return List.of(
                commands.forPlayer("balance", "[PLAYER]", true, this::balance),
                commands.forPlayer("pay", "PLAYER AMOUNT", true, this::pay));
    }

    private EconomyApi api() {
        return commands.connection().hub.client().economy();
    }

    private boolean balance(Sender sender, List<String> arguments) {
        if (arguments.size() > 1) return false;
        if (!arguments.isEmpty() && !arguments.get(0).equalsIgnoreCase(sender.name())) {
            if (!commands.may(sender, "network-hub.command.balance.others")) {
                commands.answer(sender, "command.denied");
            } else {
                commands.withPlayer(sender, arguments.get(0), player -> show(sender, player.uuid(), player.username()));
            }
        } else if (sender.isConsole()) {
            return false;
        } else {
            commands.whenFailed(sender, show(sender, sender.player(), sender.name()));
        }
        return true;
    }

    private CompletableFuture<?> show(Sender sender, UUID player, String name) {
        return balance(player).thenAccept(found -> {
            if (found.isEmpty()) {
                commands.answer(sender, "balance.none", "player", name);
            } else {
                commands.answer(sender, "balance.line", "player", name, "amount", amount(found.get().balance()),
                        "currency", found.get().currencyName());
            }
        });
    }

    /** The balance in the network's currency: the one of the settings, else the first one. */
    private CompletableFuture<Optional<CurrencyBalance>> balance(UUID player) {
        String currency = commands.connection().settings.currency();
        return api().balances("player", player.toString()).thenApply(balances -> balances.stream()
                .filter(balance -> currency.isBlank() || balance.currencyName().equalsIgnoreCase(currency))
                .findFirst());
    }

    private boolean pay(Sender sender, List<String> arguments) {
        if (arguments.size() != 2) return false;
        Optional<BigDecimal> amount = parse(arguments.get(1));
        if (sender.isConsole()) {
            commands.answer(sender, "command.players-only");
        } else if (amount.isEmpty()) {
            commands.answer(sender, "pay.amount");
        } else if (arguments.get(0).equalsIgnoreCase(sender.name())) {
            commands.answer(sender, "pay.self");
        } else {
            commands.withPlayer(sender, arguments.get(0), player -> balance(sender.player()).thenCompose(own -> {
                // The hub refuses what is below the currency's minimum, but a currency may have none.
                if (own.isEmpty() || new BigDecimal(own.get().balance().toString()).compareTo(amount.get()) < 0) {
                    commands.answer(sender, "pay.insufficient");
                    return CompletableFuture.completedFuture(null);
                }
                return pay(sender, player.uuid(), player.username(), own.get().currencyName(), amount.get());
            }));
        }
        return true;
    }

    private CompletableFuture<?> pay(Sender sender, UUID to, String name, String currency, BigDecimal amount) {
        return api().pay(sender.player(), to, currency, amount, "/pay").handle((receipt, failure) -> {
            if (failure == null) {
                commands.answer(sender, "pay.done", "player", name, "amount", amount(amount), "currency", currency);
                platform.send(to, commands.texts().get(to, "pay.received", "player", sender.name(), "amount", amount(amount),
                        "currency", currency));
            } else if (HubException.of(failure).is("insufficient_funds")) {
                commands.answer(sender, "pay.insufficient");
            } else {
                throw HubException.of(failure);
            }
            return null;
        });
    }

    private static Optional<BigDecimal> parse(String text) {
        try {
            BigDecimal amount = new BigDecimal(text);
            return amount.signum() > 0 && amount.precision() <= 30 && Math.abs(amount.scale()) <= 12 ? Optional.of(amount) : Optional.empty();
        } catch (NumberFormatException malformed) {
            return Optional.empty();
        }
    }

    private static String amount(Object amount) {
        return new BigDecimal(String.valueOf(amount)).stripTrailingZeros().toPlainString();
    }
}
