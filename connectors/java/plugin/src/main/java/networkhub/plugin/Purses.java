package networkhub.plugin;

import static java.lang.System.Logger.Level.WARNING;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import networkhub.EconomyApi;
import networkhub.HubEvent;
import networkhub.HubException;
import networkhub.connector.HubConnector;
import networkhub.model.CurrencyBalance;

/**
 * Money of the players who are here, for plugins that ask on the main thread and want the answer at once. It is answered from memory, and the
 * hub is told meanwhile. What was taken here counts at once, so a player cannot spend it twice on this server; where another server took it
 * in the same moment, the hub takes what is left, and the log says so. While the hub is away nothing is taken or given.
 */
public final class Purses {
    /** Digits behind the point that the hub keeps. */
    public static final int DIGITS = 4;
    private static final long AGAIN_MS = 3_000;

    /**
     * Outcome of a change.
     *
     * @param problem null if it was made
     */
    public record Change(BigDecimal balance, String problem) {}

    private static final class Purse {
        String currency;
        /** As the hub said when no change was under way; null while it is not known. */
        BigDecimal balance;
        /** Sum of the changes here since then. */
        BigDecimal changed = BigDecimal.ZERO;
        /** Number of the changes that the hub has not answered. */
        int underWay;
        /** The hub's latest news. It may have changes that are under way, so it counts once all are answered. */
        BigDecimal newest;
        long ledgerId;
        /** Number of the news so far: a balance that was read before some of them may be older. */
        int told;

        BigDecimal available() {
            return balance.add(changed);
        }

        void news(BigDecimal amount, long id) {
            if (id < ledgerId) return;
            ledgerId = id;
            newest = amount;
            settle();
        }

        void settle() {
            if (underWay > 0 || newest == null) return;
            balance = newest;
            changed = BigDecimal.ZERO;
        }
    }

    private final HubConnector hub;
    private final Settings settings;
    private final Platform platform;
    private final ScheduledExecutorService thread;
    private final Map<UUID, Purse> purses = new ConcurrentHashMap<>();
    /** Latest currency that was found, for its name. */
    private volatile String currency = "";

    Purses(HubConnector hub, Settings settings, Platform platform, ScheduledExecutorService thread) {
        this.hub = hub;
        this.settings = settings;
        this.platform = platform;
        this.thread = thread;
        hub.on("BALANCE_CHANGED", this::changed);
        hub.on("RESYNC", event -> purses.keySet().forEach(this::load));
    }

    private EconomyApi api() {
        return hub.client().economy();
    }

    void joined(UUID player) {
        purses.put(player, new Purse());
        load(player);
    }

    void left(UUID player) {
        purses.remove(player);
    }

    /** Reads a balance at the hub, until it answers or the player has left. */
    private void load(UUID player) {
        Purse purse = purses.get(player);
        if (purse == null) return;
        int told;
        synchronized (purse) {
            told = purse.told;
        }
        api().balances("player", player.toString()).whenComplete((balances, failure) -> {
            if (failure != null) later(() -> load(player));
            else if (!loaded(purse, balances, told)) load(player);
        });
    }

    /** Takes a balance, unless there was news meanwhile; false if it is to be read again, because the news had nothing to add to. */
    private boolean loaded(Purse purse, List<CurrencyBalance> balances, int told) {
        String wanted = settings.currency();
        Optional<CurrencyBalance> found = balances.stream()
                .filter(balance -> wanted.isBlank() || balance.currencyName().equalsIgnoreCase(wanted)).findFirst();
        synchronized (purse) {
            if (purse.told != told) return purse.balance != null;
            purse.currency = found.map(CurrencyBalance::currencyName).orElse(wanted);
            // A change that is under way may be in it or not: its answer has the balance after it.
            if (purse.underWay == 0) {
                purse.newest = found.map(balance -> new BigDecimal(balance.balance().toString())).orElse(BigDecimal.ZERO);
                purse.settle();
            }
            if (!purse.currency.isBlank()) currency = purse.currency;
        }
        return true;
    }

    private void changed(HubEvent event) {
        JsonObject data = event.data();
        if (!"player".equals(event.text("ownerType"))) return;
        Purse purse = purseOf(event.text("ownerKey"));
        JsonElement balance = data.get("balance");
        JsonElement id = data.get("ledgerId");
        if (purse == null || balance == null || id == null) return;
        synchronized (purse) {
            boolean isKnown = purse.balance != null;
            if (isKnown && !event.text("currencyName").equals(purse.currency)) return;
            purse.told++;
            if (isKnown) purse.news(balance.getAsBigDecimal(), id.getAsLong());
        }
    }

    private Purse purseOf(String key) {
        try {
            return purses.get(UUID.fromString(key));
        } catch (IllegalArgumentException other) {
            return null;
        }
    }

    /** Name of the currency; blank while none is known. */
    public String currency() {
        return currency;
    }

    /** Money that a player may spend; empty if they are not here, or nothing is known yet. */
    public Optional<BigDecimal> balance(UUID player) {
        Purse purse = purses.get(player);
        if (purse == null) return Optional.empty();
        synchronized (purse) {
            return purse.balance == null ? Optional.empty() : Optional.of(purse.available());
        }
    }

    /** Takes money from a player who is here. */
    public Change withdraw(UUID player, BigDecimal amount, String reason) {
        return change(player, amount, true, reason);
    }

    /** Gives money to a player who is here. */
    public Change deposit(UUID player, BigDecimal amount, String reason) {
        return change(player, amount, false, reason);
    }

    private Change change(UUID player, BigDecimal amount, boolean isTaken, String reason) {
        BigDecimal exact = amount.setScale(DIGITS, isTaken ? RoundingMode.UP : RoundingMode.DOWN);
        Purse purse = purses.get(player);
        if (purse == null) return new Change(BigDecimal.ZERO, "The player is not on this server.");
        if (!hub.status().isConnected()) return new Change(balance(player).orElse(BigDecimal.ZERO), "The hub is away.");
        BigDecimal delta = isTaken ? exact.negate() : exact;
        synchronized (purse) {
            if (purse.balance == null || purse.currency.isBlank()) return new Change(BigDecimal.ZERO, "The balance is not known yet.");
            if (exact.signum() < 0) return new Change(purse.available(), "The amount is negative.");
            if (isTaken && purse.available().compareTo(exact) < 0) return new Change(purse.available(), "The balance is too low.");
            if (exact.signum() > 0) {
                purse.changed = purse.changed.add(delta);
                purse.underWay++;
                send(player, purse, delta, reason, UUID.randomUUID().toString());
            }
            return new Change(purse.available(), null);
        }
    }

    /** Sent under one key until it is answered: the hub makes it once. */
    private void send(UUID player, Purse purse, BigDecimal delta, String reason, String key) {
        api().modifyExactly("player", player.toString(), purse.currency, delta, reason, key).whenComplete((answer, failure) -> {
            HubException error = failure == null ? null : HubException.of(failure);
            if (error != null && (error.isTransient() || error.status() >= 500)) {
                later(() -> send(player, purse, delta, reason, key));
                return;
            }
            synchronized (purse) {
                purse.underWay--;
                purse.told++;
                if (error == null) purse.news(answer.balance(), answer.ledgerId());
                else purse.changed = purse.changed.subtract(delta);
                purse.settle();
            }
            if (error != null) refused(player, purse, delta, reason, error);
        });
    }

    /** The goods are handed out already, so what can be taken is taken. */
    private void refused(UUID player, Purse purse, BigDecimal delta, String reason, HubException error) {
        platform.log(WARNING, "The hub did not change the balance of " + player + " by " + delta.toPlainString() + " " + purse.currency + ": "
                + error.getMessage());
        if (!error.is("insufficient_funds")) {
            load(player);
            return;
        }
        api().modify("player", player.toString(), purse.currency, delta, reason).whenComplete((answer, failure) -> {
            if (failure == null) {
                platform.log(WARNING, "It was changed by " + answer.applied().toPlainString() + " instead.");
            }
            load(player);
        });
    }

    private void later(Runnable task) {
        try {
            thread.schedule(task, AGAIN_MS, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException stopped) {
            // The plugin stops; what is not answered by now is as in an outage.
        }
    }
}
