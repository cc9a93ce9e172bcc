package networkhub.platform;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.logging.Level;
import net.md_5.bungee.api.ProxyServer;
import net.md_5.bungee.api.config.ListenerInfo;
import net.md_5.bungee.api.config.ServerInfo;
import net.md_5.bungee.api.connection.ProxiedPlayer;
import net.md_5.bungee.api.event.ServerConnectEvent;
import net.md_5.bungee.api.plugin.Plugin;
import networkhub.plugin.Finding;
import networkhub.plugin.GameAddress;
import networkhub.plugin.Platform;
import networkhub.plugin.PlatformKind;
import networkhub.plugin.ProxyServers;

/** BungeeCord, as the plugin needs it. */
final class BungeePlatform implements Platform {
    private final Plugin plugin;
    private final ProxyServer proxy;
    private final ProxyServers servers = new Servers();

    BungeePlatform(Plugin plugin) {
        this.plugin = plugin;
        proxy = plugin.getProxy();
    }

    @Override
    public PlatformKind kind() {
        return PlatformKind.BUNGEECORD;
    }

    @Override
    public String version() {
        return proxy.getVersion();
    }

    @Override
    public Path folder() {
        return plugin.getDataFolder().toPath();
    }

    private ListenerInfo listener() {
        Iterator<ListenerInfo> listeners = proxy.getConfig().getListeners().iterator();
        return listeners.hasNext() ? listeners.next() : null;
    }

    @Override
    public int port() {
        ListenerInfo listener = listener();
        return listener != null && listener.getSocketAddress() instanceof InetSocketAddress address ? address.getPort() : 25577;
    }

    @Override
    public int maxPlayers() {
        int limit = proxy.getConfig().getPlayerLimit();
        return Math.max(0, limit);
    }

    @Override
    public Map<UUID, String> players() {
        Map<UUID, String> players = new HashMap<>();
        for (ProxiedPlayer player : proxy.getPlayers()) players.put(player.getUniqueId(), player.getName());
        return players;
    }

    @Override
    public Set<String> plugins() {
        Set<String> names = new HashSet<>();
        for (Plugin each : proxy.getPluginManager().getPlugins()) names.add(each.getDescription().getName());
        return names;
    }

    @Override
    public void log(System.Logger.Level level, String line) {
        // Both kinds of levels have the same numbers.
        plugin.getLogger().log(Level.parse(Integer.toString(level.getSeverity())), line);
    }

    @Override
    public void execute(Runnable task) {
        proxy.getScheduler().runAsync(plugin, task);
    }

    @Override
    public void send(UUID player, String text) {
        ProxiedPlayer found = proxy.getPlayer(player);
        if (found != null) found.sendMessage(BungeeTexts.of(text));
    }

    @Override
    public void broadcast(String text) {
        proxy.broadcast(BungeeTexts.of(text));
    }

    @Override
    public void kick(UUID player, String text) {
        ProxiedPlayer found = proxy.getPlayer(player);
        if (found != null) found.disconnect(BungeeTexts.of(text));
    }

    @Override
    public boolean hasPermission(UUID player, String node) {
        ProxiedPlayer found = proxy.getPlayer(player);
        return found != null && found.hasPermission(node);
    }

    @Override
    public void connect(UUID player, GameAddress target) {
        ProxiedPlayer found = proxy.getPlayer(player);
        if (found == null) throw new IllegalStateException("The player is not on this proxy.");
        found.connect(server(target), ServerConnectEvent.Reason.PLUGIN);
    }

    /** The proxy's server of this name; added if there is none yet. */
    ServerInfo server(GameAddress target) {
        servers.ensure(target);
        return proxy.getServers().get(target.id());
    }

    @Override
    public void serversChanged(Collection<GameAddress> changed) {
        servers.replaceAll(changed);
    }

    /** Guards the proxy's map, which is made for one thread. */
    private final class Servers extends ProxyServers {
        @Override
        protected boolean has(String id) {
            return proxy.getServers().containsKey(id);
        }

        @Override
        protected void put(GameAddress server) {
            SocketAddress address = InetSocketAddress.createUnresolved(server.host(), server.port());
            proxy.getServers().put(server.id(), proxy.constructServerInfo(server.id(), address, "", false));
        }

        /** One with players stays, because the proxy refers to it. */
        @Override
        protected boolean remove(String id) {
            ServerInfo known = proxy.getServers().get(id);
            if (known != null && !known.getPlayers().isEmpty()) return false;
            proxy.getServers().remove(id);
            return true;
        }
    }

    /** The API has no other way to this setting. */
    @Override
    @SuppressWarnings("deprecation")
    public List<Finding> findings() {
        return List.of(proxy.getConfig().isIpForward()
                ? Finding.ok("forwarding", "game servers are told who the players are")
                : Finding.problem("forwarding", "game servers see the proxy's address, and other UUIDs: set ip_forward: true in config.yml, and "
                        + "settings.bungeecord: true in spigot.yml of the game servers"));
    }

    @Override
    public String runCommand(String command) {
        BungeeOutput output = new BungeeOutput();
        if (!proxy.getPluginManager().dispatchCommand(output, command)) throw new IllegalStateException("There is no such command.");
        return output.text();
    }
}
