// Compile-only declaration of a part of Vault's API, written for this project; never in a jar.
package net.milkbowl.vault.economy;

import java.util.List;
import org.bukkit.OfflinePlayer;

public interface Economy {
    boolean isEnabled();

    String getName();

    boolean hasBankSupport();

    int fractionalDigits();

    String format(double amount);

    String currencyNamePlural();

    String currencyNameSingular();

    boolean hasAccount(String player);

    boolean hasAccount(OfflinePlayer player);

    boolean hasAccount(String player, String world);

    boolean hasAccount(OfflinePlayer player, String world);

    double getBalance(String player);

    double getBalance(OfflinePlayer player);

    double getBalance(String player, String world);

    double getBalance(OfflinePlayer player, String world);

    boolean has(String player, double amount);

    boolean has(OfflinePlayer player, double amount);

    boolean has(String player, String world, double amount);

    boolean has(OfflinePlayer player, String world, double amount);

    EconomyResponse withdrawPlayer(String player, double amount);

    EconomyResponse withdrawPlayer(OfflinePlayer player, double amount);

    EconomyResponse withdrawPlayer(String player, String world, double amount);

    EconomyResponse withdrawPlayer(OfflinePlayer player, String world, double amount);

    EconomyResponse depositPlayer(String player, double amount);

    EconomyResponse depositPlayer(OfflinePlayer player, double amount);

    EconomyResponse depositPlayer(String player, String world, double amount);

    EconomyResponse depositPlayer(OfflinePlayer player, String world, double amount);

    EconomyResponse createBank(String bank, String player);

    EconomyResponse createBank(String bank, OfflinePlayer player);

    EconomyResponse deleteBank(String bank);

    EconomyResponse bankBalance(String bank);

    EconomyResponse bankHas(String bank, double amount);

    EconomyResponse bankWithdraw(String bank, double amount);

    EconomyResponse bankDeposit(String bank, double amount);

    EconomyResponse isBankOwner(String bank, String player);

    EconomyResponse isBankOwner(String bank, OfflinePlayer player);

    EconomyResponse isBankMember(String bank, String player);

    EconomyResponse isBankMember(String bank, OfflinePlayer player);

    List<String> getBanks();

    boolean createPlayerAccount(String player);

    boolean createPlayerAccount(OfflinePlayer player);

    boolean createPlayerAccount(String player, String world);

    boolean createPlayerAccount(OfflinePlayer player, String world);
}
