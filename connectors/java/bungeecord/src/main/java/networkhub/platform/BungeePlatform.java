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

/** BungeeCord, as the plugin needs it. */
final class BungeePlatform implements Platform {
    private final Plugin plugin;
    private final ProxyServer proxy;
    /** The servers that the hub named, and not the proxy's own config. Guards the proxy's map, which is made for one thread. */
    private final Map<String, ServerInfo> registered = new HashMap<>();

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
        plugin.getLogger().log(switch (level) {
            case ERROR -> Level.SEVERE;
            case WARNING -> Level.WARNING;
            default -> Level.INFO;
        }, line);
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

    /** The proxy's server of this name; added if it is none yet. */
    ServerInfo server(GameAddress target) {
        synchronized (registered) {
            ServerInfo known = proxy.getServers().get(target.id());
            return known != null ? known : add(target);
        }
    }

    private ServerInfo add(GameAddress server) {
        SocketAddress address = InetSocketAddress.createUnresolved(server.host(), server.port());
        ServerInfo made = proxy.constructServerInfo(server.id(), address, "", false);
        proxy.getServers().put(server.id(), made);
        registered.put(server.id(), made);
        return made;
    }

    @Override
    public void serversChanged(Collection<GameAddress> servers) {
        synchronized (registered) {
            Map<String, ServerInfo> gone = new HashMap<>(registered);
            for (GameAddress server : servers) {
                ServerInfo known = gone.remove(server.id());
                if (known != null && isAt(known, server)) continue;
                if (known != null) {
                    add(server);
                } else if (!proxy.getServers().containsKey(server.id())) {
                    add(server);
                }
            }
            for (ServerInfo server : gone.values()) remove(server);
        }
    }

    /** One with players stays, because the proxy refers to it; it goes when the next change finds it empty. */
    private void remove(ServerInfo server) {
        if (!server.getPlayers().isEmpty()) return;
        registered.remove(server.getName());
        proxy.getServers().remove(server.getName());
    }

    private static boolean isAt(ServerInfo known, GameAddress server) {
        return known.getSocketAddress() instanceof InetSocketAddress address && address.getHostString().equals(server.host())
                && address.getPort() == server.port();
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
