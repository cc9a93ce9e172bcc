package networkhub.platform;

import networkhub.plugin.HubCommand;
import networkhub.plugin.HubPlugin;
import networkhub.plugin.PlatformKind;
import org.bukkit.entity.Player;
import org.bukkit.plugin.java.JavaPlugin;

/** The plugin's entry on Paper and Folia. */
public final class PaperPlugin extends JavaPlugin {
    private HubPlugin hub;
    private PaperPermissions permissions;

    @Override
    public void onEnable() {
        PaperPlatform platform = new PaperPlatform(this, isFolia() ? PlatformKind.FOLIA : PlatformKind.PAPER);
        hub = new HubPlugin(platform);
        permissions = new PaperPermissions(this, hub);
        platform.use(permissions);
        hub.start();
        Extensions.register(this, hub, platform);
        getServer().getMessenger().registerOutgoingPluginChannel(this, PaperPlatform.PROXY_CHANNEL);
        getServer().getPluginManager().registerEvents(new PaperListener(hub, permissions), this);
        getServer().getPluginManager().registerEvents(new PaperFreeze(hub), this);
        for (HubCommand command : hub.commands()) {
            getServer().getCommandMap().register("network-hub", new PaperCommand(hub, command));
        }
        // After a reload there are players already.
        for (Player player : getServer().getOnlinePlayers()) platform.executeFor(player.getUniqueId(), () -> permissions.apply(player));
    }

    @Override
    public void onDisable() {
        if (hub == null) return;
        hub.stop();
        permissions.clear();
        getServer().getServicesManager().unregisterAll(this);
        getServer().getMessenger().unregisterOutgoingPluginChannel(this);
    }

    /** Forks of Folia have names of their own, but its class. */
    private boolean isFolia() {
        if (getServer().getName().equals("Folia")) return true;
        try {
            Class.forName("io.papermc.paper.threadedregions.RegionizedServer", false, getClass().getClassLoader());
            return true;
        } catch (ClassNotFoundException none) {
            return false;
        }
    }
}
