package networkhub.plugin;

import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Other plugins that do what the hub does. The hub stands back where one is installed, unless the config says otherwise. */
final class Neighbors {
    private static final List<String> PERMISSIONS = List.of("LuckPerms", "UltraPermissions", "PermissionsEx", "GroupManager",
            "PowerfulPerms", "BungeePerms", "CloudNet_CloudPerms");
    private static final List<String> PUNISHMENTS = List.of("LiteBans", "AdvancedBan", "LibertyBans", "BanManager", "BungeeBan",
            "ProfessionalBans", "MaxBans");

    private static final List<String> MONEY = List.of("Essentials", "CMI", "TheNewEconomy", "XConomy", "CoinsEngine", "iConomy", "BOSEconomy",
            "Gringotts", "SaneEconomy", "UltraEconomy", "RedisEconomy");

    private Neighbors() {}

    /** Name of the plugin that has money of its own. */
    static Optional<String> money(Set<String> plugins) {
        return find(MONEY, plugins);
    }

    /** True if a plugin is installed. */
    static boolean has(String name, Set<String> plugins) {
        return plugins.stream().anyMatch(name::equalsIgnoreCase);
    }

    /** Name of the plugin that answers permissions. */
    static Optional<String> permissions(Set<String> plugins) {
        return find(PERMISSIONS, plugins);
    }

    /** Name of the plugin that bans and mutes. */
    static Optional<String> punishments(Set<String> plugins) {
        return find(PUNISHMENTS, plugins);
    }

    private static Optional<String> find(List<String> known, Set<String> plugins) {
        return known.stream().filter(name -> plugins.stream().anyMatch(name::equalsIgnoreCase)).findFirst();
    }
}
