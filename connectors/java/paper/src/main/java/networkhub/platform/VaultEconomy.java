package networkhub.platform;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import net.milkbowl.vault.economy.Economy;
import net.milkbowl.vault.economy.EconomyResponse;
import net.milkbowl.vault.economy.EconomyResponse.ResponseType;
import networkhub.plugin.HubPlugin;
import networkhub.plugin.Platform;
import networkhub.plugin.Purses;
import org.bukkit.OfflinePlayer;

/**
 * The hub's money for plugins that use Vault. Vault wants answers at once: they come from memory, for players who are here. Those who are
 * elsewhere have no balance for it. There are no banks.
 */
final class VaultEconomy implements Economy {
    private static final String REASON = "Vault";

    private final HubPlugin hub;
    private final Platform platform;

    VaultEconomy(HubPlugin hub, Platform platform) {
        this.hub = hub;
        this.platform = platform;
    }

    private UUID find(String name) {
        return platform.players().entrySet().stream().filter(player -> player.getValue().equalsIgnoreCase(name))
                .map(Map.Entry::getKey).findFirst().orElse(null);
    }

    private static UUID id(OfflinePlayer player) {
        return player == null ? null : player.getUniqueId();
    }

    private BigDecimal balance(UUID player) {
        return player == null ? BigDecimal.ZERO : hub.purses().flatMap(purses -> purses.balance(player)).orElse(BigDecimal.ZERO);
    }

    private boolean has(UUID player, double amount) {
        return isAmount(amount) && balance(player).compareTo(BigDecimal.valueOf(amount)) >= 0;
    }

    private static boolean isAmount(double amount) {
        return amount >= 0 && amount < 1e15;
    }

    private EconomyResponse withdraw(UUID player, double amount) {
        return change(player, amount, purses -> purses.withdraw(player, BigDecimal.valueOf(amount), REASON));
    }

    private EconomyResponse deposit(UUID player, double amount) {
        return change(player, amount, purses -> purses.deposit(player, BigDecimal.valueOf(amount), REASON));
    }

    private EconomyResponse change(UUID player, double amount, Function<Purses, Purses.Change> change) {
        if (player == null) return failed(0, "The player is not on this server.");
        if (!isAmount(amount)) return failed(balance(player).doubleValue(), "The amount is not valid.");
        Purses.Change made = hub.purses().map(change).orElse(new Purses.Change(BigDecimal.ZERO, "The hub is not connected."));
        double balance = made.balance().doubleValue();
        return made.problem() == null ? new EconomyResponse(amount, balance, ResponseType.SUCCESS, null) : failed(balance, made.problem());
    }

    private static EconomyResponse failed(double balance, String problem) {
        return new EconomyResponse(0, balance, ResponseType.FAILURE, problem);
    }

    private static EconomyResponse none() {
        return new EconomyResponse(0, 0, ResponseType.NOT_IMPLEMENTED, "There are no banks.");
    }

    @Override
    public boolean isEnabled() {
        return hub.purses().isPresent();
    }

    @Override
    public String getName() {
        return "Network Hub";
    }

    @Override
    public boolean hasBankSupport() {
        return false;
    }

    @Override
    public int fractionalDigits() {
        return Purses.DIGITS;
    }

    @Override
    public String format(double amount) {
        String number = BigDecimal.valueOf(amount).setScale(2, java.math.RoundingMode.HALF_EVEN).toPlainString();
        String name = currencyNamePlural();
        return name.isEmpty() ? number : number + " " + name;
    }

    @Override
    public String currencyNamePlural() {
        return hub.purses().map(Purses::currency).orElse("");
    }

    @Override
    public String currencyNameSingular() {
        return currencyNamePlural();
    }

    @Override
    public boolean hasAccount(String player) {
        return find(player) != null;
    }

    @Override
    public boolean hasAccount(OfflinePlayer player) {
        return id(player) != null;
    }

    @Override
    public boolean hasAccount(String player, String world) {
        return find(player) != null;
    }

    @Override
    public boolean hasAccount(OfflinePlayer player, String world) {
        return id(player) != null;
    }

    @Override
    public double getBalance(String player) {
        return balance(find(player)).doubleValue();
    }

    @Override
    public double getBalance(OfflinePlayer player) {
        return balance(id(player)).doubleValue();
    }

    @Override
    public double getBalance(String player, String world) {
        return balance(find(player)).doubleValue();
    }

    @Override
    public double getBalance(OfflinePlayer player, String world) {
        return balance(id(player)).doubleValue();
    }

    @Override
    public boolean has(String player, double amount) {
        return has(find(player), amount);
    }

    @Override
    public boolean has(OfflinePlayer player, double amount) {
        return has(id(player), amount);
    }

    @Override
    public boolean has(String player, String world, double amount) {
        return has(find(player), amount);
    }

    @Override
    public boolean has(OfflinePlayer player, String world, double amount) {
        return has(id(player), amount);
    }

    @Override
    public EconomyResponse withdrawPlayer(String player, double amount) {
        return withdraw(find(player), amount);
    }

    @Override
    public EconomyResponse withdrawPlayer(OfflinePlayer player, double amount) {
        return withdraw(id(player), amount);
    }

    @Override
    public EconomyResponse withdrawPlayer(String player, String world, double amount) {
        return withdraw(find(player), amount);
    }

    @Override
    public EconomyResponse withdrawPlayer(OfflinePlayer player, String world, double amount) {
        return withdraw(id(player), amount);
    }

    @Override
    public EconomyResponse depositPlayer(String player, double amount) {
        return deposit(find(player), amount);
    }

    @Override
    public EconomyResponse depositPlayer(OfflinePlayer player, double amount) {
        return deposit(id(player), amount);
    }

    @Override
    public EconomyResponse depositPlayer(String player, String world, double amount) {
        return deposit(find(player), amount);
    }

    @Override
    public EconomyResponse depositPlayer(OfflinePlayer player, String world, double amount) {
        return deposit(id(player), amount);
    }

    @Override
    public EconomyResponse createBank(String bank, String player) {
        return none();
    }

    @Override
    public EconomyResponse createBank(String bank, OfflinePlayer player) {
        return none();
    }

    @Override
    public EconomyResponse deleteBank(String bank) {
        return none();
    }

    @Override
    public EconomyResponse bankBalance(String bank) {
        return none();
    }

    @Override
    public EconomyResponse bankHas(String bank, double amount) {
        return none();
    }

    @Override
    public EconomyResponse bankWithdraw(String bank, double amount) {
        return none();
    }

    @Override
    public EconomyResponse bankDeposit(String bank, double amount) {
        return none();
    }

    @Override
    public EconomyResponse isBankOwner(String bank, String player) {
        return none();
    }

    @Override
    public EconomyResponse isBankOwner(String bank, OfflinePlayer player) {
        return none();
    }

    @Override
    public EconomyResponse isBankMember(String bank, String player) {
        return none();
    }

    @Override
    public EconomyResponse isBankMember(String bank, OfflinePlayer player) {
        return none();
    }

    @Override
    public List<String> getBanks() {
        return List.of();
    }

    @Override
    public boolean createPlayerAccount(String player) {
        return find(player) != null;
    }

    @Override
    public boolean createPlayerAccount(OfflinePlayer player) {
        return id(player) != null;
    }

    @Override
    public boolean createPlayerAccount(String player, String world) {
        return find(player) != null;
    }

    @Override
    public boolean createPlayerAccount(OfflinePlayer player, String world) {
        return id(player) != null;
    }
}
