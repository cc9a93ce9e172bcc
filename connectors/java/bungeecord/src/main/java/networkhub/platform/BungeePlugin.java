package networkhub.platform;

import net.md_5.bungee.api.connection.ProxiedPlayer;
import net.md_5.bungee.api.plugin.Plugin;
import networkhub.plugin.HubCommand;
import networkhub.plugin.HubPlugin;

/** The plugin's entry on BungeeCord. */
public final class BungeePlugin extends Plugin {
    private HubPlugin hub;

    @Override
    public void onEnable() {
        BungeePlatform platform = new BungeePlatform(this);
        hub = new HubPlugin(platform);
        hub.start();
        getProxy().getPluginManager().registerListener(this, new BungeeListener(this, hub, platform));
        for (HubCommand command : hub.commands()) {
            getProxy().getPluginManager().registerCommand(this, new BungeeCommand(hub, command));
        }
        for (ProxiedPlayer player : getProxy().getPlayers()) hub.joined(player.getUniqueId(), player.getName());
    }

    @Override
    public void onDisable() {
        if (hub != null) hub.stop();
    }
}
