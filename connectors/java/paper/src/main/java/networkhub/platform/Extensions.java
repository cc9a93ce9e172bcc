package networkhub.platform;

import java.util.OptionalDouble;
import java.util.logging.Level;
import net.milkbowl.vault.economy.Economy;
import networkhub.plugin.HubPlugin;
import networkhub.plugin.Platform;
import org.bukkit.entity.Player;
import org.bukkit.plugin.ServicePriority;
import org.bukkit.plugin.java.JavaPlugin;

/** Services for other plugins, where these are installed. Their classes are touched only then. */
final class Extensions {
    private Extensions() {}

    static void register(JavaPlugin plugin, HubPlugin hub, Platform platform) {
        attempt(plugin, "Vault", hub.purses().isPresent(), () -> Vault.register(plugin, hub, platform));
        attempt(plugin, "PlaceholderAPI", hub.hasPlaceholders(), () -> Placeholders.register(hub));
    }

    /** Money of a player by the plugin that has it; where Vault is installed. */
    static OptionalDouble balance(Player player) {
        try {
            return Vault.balance(player);
        } catch (LinkageError | RuntimeException unusual) {
            return OptionalDouble.empty();
        }
    }

    private static void attempt(JavaPlugin plugin, String name, boolean isWanted, Runnable registration) {
        if (!isWanted) return;
        try {
            registration.run();
        } catch (LinkageError | RuntimeException unusual) {
            plugin.getLogger().log(Level.WARNING, "This version of " + name + " cannot be used: " + unusual);
        }
    }

    private static final class Vault {
        static void register(JavaPlugin plugin, HubPlugin hub, Platform platform) {
            plugin.getServer().getServicesManager().register(Economy.class, new VaultEconomy(hub, platform), plugin, ServicePriority.High);
        }

        static OptionalDouble balance(Player player) {
            Economy economy = player.getServer().getServicesManager().load(Economy.class);
            return economy == null ? OptionalDouble.empty() : OptionalDouble.of(economy.getBalance(player));
        }
    }

    private static final class Placeholders {
        static void register(HubPlugin hub) {
            new HubExpansion(hub).register();
        }
    }
}
