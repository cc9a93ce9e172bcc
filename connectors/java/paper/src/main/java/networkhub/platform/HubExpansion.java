package networkhub.platform;

import me.clip.placeholderapi.expansion.PlaceholderExpansion;
import networkhub.plugin.HubPlugin;
import org.bukkit.OfflinePlayer;

/** Values of the hub for PlaceholderAPI: {@code %networkhub_server%} and so on, from memory. */
final class HubExpansion extends PlaceholderExpansion {
    private final HubPlugin hub;

    HubExpansion(HubPlugin hub) {
        this.hub = hub;
    }

    @Override
    public String getIdentifier() {
        return "networkhub";
    }

    @Override
    public String getAuthor() {
        return "Network Hub";
    }

    @Override
    public String getVersion() {
        return HubPlugin.version();
    }

    @Override
    public boolean persist() {
        return true;
    }

    @Override
    public String onRequest(OfflinePlayer player, String name) {
        return hub.placeholder(player == null ? null : player.getUniqueId(), name.toLowerCase(java.util.Locale.ROOT));
    }
}
