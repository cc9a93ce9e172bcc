package networkhub.platform;

import com.google.inject.Inject;
import com.velocitypowered.api.command.CommandManager;
import com.velocitypowered.api.event.Subscribe;
import com.velocitypowered.api.event.proxy.ProxyInitializeEvent;
import com.velocitypowered.api.event.proxy.ProxyShutdownEvent;
import com.velocitypowered.api.plugin.annotation.DataDirectory;
import com.velocitypowered.api.proxy.Player;
import com.velocitypowered.api.proxy.ProxyServer;
import java.nio.file.Path;
import networkhub.plugin.HubCommand;
import networkhub.plugin.HubPlugin;
import org.slf4j.Logger;

/** The plugin's entry on Velocity. */
public final class VelocityPlugin {
    private final ProxyServer proxy;
    private final VelocityPlatform platform;
    private final HubPlugin hub;

    /** Velocity makes it; nothing may be registered yet. */
    @Inject
    public VelocityPlugin(ProxyServer proxy, Logger log, @DataDirectory Path folder) {
        this.proxy = proxy;
        platform = new VelocityPlatform(this, proxy, log, folder);
        hub = new HubPlugin(platform);
    }

    /** Starts with the proxy. */
    @Subscribe
    public void onStart(ProxyInitializeEvent event) {
        hub.start();
        proxy.getEventManager().register(this, new VelocityListener(hub, platform));
        CommandManager manager = proxy.getCommandManager();
        for (HubCommand command : hub.commands()) {
            manager.register(manager.metaBuilder(command.name()).plugin(this).build(), new VelocityCommand(hub, command));
        }
        for (Player player : proxy.getAllPlayers()) hub.joined(player.getUniqueId(), player.getUsername());
    }

    /** Stops with the proxy, which waits for it. */
    @Subscribe
    public void onStop(ProxyShutdownEvent event) {
        hub.stop();
    }
}
