package networkhub.bungeecord;

import java.io.File;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Logger;
import net.md_5.bungee.api.Callback;
import net.md_5.bungee.api.CommandSender;
import net.md_5.bungee.api.ProxyConfig;
import net.md_5.bungee.api.ProxyServer;
import net.md_5.bungee.api.ReconnectHandler;
import net.md_5.bungee.api.ServerPing;
import net.md_5.bungee.api.Title;
import net.md_5.bungee.api.chat.BaseComponent;
import net.md_5.bungee.api.config.ConfigurationAdapter;
import net.md_5.bungee.api.config.ListenerInfo;
import net.md_5.bungee.api.config.ServerInfo;
import net.md_5.bungee.api.connection.PendingConnection;
import net.md_5.bungee.api.connection.ProxiedPlayer;
import net.md_5.bungee.api.connection.Server;
import net.md_5.bungee.api.event.LoginEvent;
import net.md_5.bungee.api.event.PermissionCheckEvent;
import net.md_5.bungee.api.event.PostLoginEvent;
import net.md_5.bungee.api.event.ProxyPingEvent;
import net.md_5.bungee.api.event.ServerConnectEvent;
import net.md_5.bungee.api.plugin.Plugin;
import net.md_5.bungee.api.plugin.PluginManager;
import net.md_5.bungee.api.scheduler.ScheduledTask;
import net.md_5.bungee.api.scheduler.TaskScheduler;
import networkhub.testing.Fake;

/** BungeeCord's own plugin manager, class loader and events with the jar; only the proxy around them and the players are made here. */
final class FakeBungee extends ProxyServer implements AutoCloseable {
    final Map<String, ServerInfo> servers = new ConcurrentHashMap<>();
    final Map<UUID, FakePlayer> players = new ConcurrentHashMap<>();
    volatile boolean forwards = true;
    final AtomicInteger held = new AtomicInteger();
    final AtomicInteger answered = new AtomicInteger();
    private final Path folder = Files.createTempDirectory("network-hub-bungee");
    private final PluginManager manager;

    FakeBungee(String jar, String... config) throws Exception {
        // BungeeCord has one instance for each class loader; the first is known to all parts of its API.
        if (ProxyServer.getInstance() == null) ProxyServer.setInstance(this);
        manager = new PluginManager(this);
        Path plugins = Files.createDirectories(folder.resolve("plugins"));
        Files.copy(Path.of(jar), plugins.resolve("network-hub.jar"));
        Path data = Files.createDirectories(plugins.resolve("NetworkHub"));
        Files.write(data.resolve("config.properties"), List.of(config));
        manager.detectPlugins(plugins.toFile());
        manager.loadPlugins();
        manager.enablePlugins();
    }

    Plugin plugin() {
        return manager.getPlugin("NetworkHub");
    }

    @Override
    public void close() {
        plugin().onDisable();
        manager.unregisterListeners(plugin());
        manager.unregisterCommands(plugin());
    }

    /** Waits until an event is done, as the proxy does before it lets the player go on. */
    private <T> T await(CompletableFuture<T> done) throws Exception {
        held.incrementAndGet();
        T event = done.get(20, TimeUnit.SECONDS);
        return event;
    }

    private <T> Callback<T> callback(CompletableFuture<T> done) {
        return (event, failure) -> {
            answered.incrementAndGet();
            done.complete(event);
        };
    }

    /** Lets a player log in; returns the reason why they may not, or null. */
    String login(FakePlayer player) throws Exception {
        CompletableFuture<LoginEvent> login = new CompletableFuture<>();
        manager.callEvent(new LoginEvent(Fake.of(PendingConnection.class, player), callback(login)));
        LoginEvent event = await(login);
        if (event.isCancelled()) return event.getReason().toPlainText();
        players.put(player.uuid, player);
        return null;
    }

    /** Lets a player who has logged in choose the first server. */
    ServerInfo firstServer(FakePlayer player) throws Exception {
        CompletableFuture<PostLoginEvent> join = new CompletableFuture<>();
        manager.callEvent(new PostLoginEvent(player.api, null, callback(join)));
        return await(join).getTarget();
    }

    ServerPing ping(ServerPing own) throws Exception {
        CompletableFuture<ProxyPingEvent> ping = new CompletableFuture<>();
        manager.callEvent(new ProxyPingEvent(null, own, callback(ping)));
        return await(ping).getResponse();
    }

    /** A player, and what they saw. */
    final class FakePlayer {
        final UUID uuid = UUID.randomUUID();
        final String name;
        final ProxiedPlayer api = Fake.of(ProxiedPlayer.class, this);
        final List<String> texts = new CopyOnWriteArrayList<>();
        volatile String disconnected;
        volatile ServerInfo server;
        volatile ServerInfo requested;

        FakePlayer(String name) {
            this.name = name;
        }

        UUID getUniqueId() {
            return uuid;
        }

        String getName() {
            return name;
        }

        SocketAddress getSocketAddress() {
            return new InetSocketAddress(InetAddress.getLoopbackAddress(), 40_000);
        }

        Server getServer() {
            return server == null ? null : Fake.of(Server.class, this);
        }

        void connect(ServerInfo target, ServerConnectEvent.Reason reason) {
            requested = target;
        }

        void disconnect(BaseComponent reason) {
            disconnected = reason.toPlainText();
        }

        void sendMessage(BaseComponent message) {
            texts.add(message.toPlainText());
        }

        void sendMessage(String message) {
            texts.add(message);
        }

        boolean hasPermission(String node) {
            return manager.callEvent(new PermissionCheckEvent(api, node, false)).hasPermission();
        }
    }

    private record ServerCalls(String name, SocketAddress address, Collection<ProxiedPlayer> players) {
        String getName() {
            return name;
        }

        SocketAddress getSocketAddress() {
            return address;
        }

        Collection<ProxiedPlayer> getPlayers() {
            return players;
        }
    }

    @Override
    public ServerInfo constructServerInfo(String name, SocketAddress address, String motd, boolean restricted) {
        return Fake.of(ServerInfo.class, new ServerCalls(name, address, List.of()));
    }

    @Override
    @Deprecated
    public ServerInfo constructServerInfo(String name, InetSocketAddress address, String motd, boolean restricted) {
        return constructServerInfo(name, (SocketAddress) address, motd, restricted);
    }

    @Override
    public TaskScheduler getScheduler() {
        return Fake.of(TaskScheduler.class, new Object() {
            ScheduledTask runAsync(Plugin owner, Runnable task) {
                CompletableFuture.runAsync(task);
                return null;
            }
        });
    }

    @Override
    @SuppressWarnings("deprecation")
    public ProxyConfig getConfig() {
        return Fake.of(ProxyConfig.class, new Object() {
            Collection<ListenerInfo> getListeners() {
                return List.of();
            }

            int getPlayerLimit() {
                return -1;
            }

            Collection<String> getDisabledCommands() {
                return List.of();
            }

            boolean isIpForward() {
                return forwards;
            }

            boolean isLogCommands() {
                return false;
            }
        });
    }

    @Override
    public String getName() {
        return "BungeeCord";
    }

    @Override
    public String getVersion() {
        return "test:1.21";
    }

    @Override
    public Logger getLogger() {
        return Logger.getLogger("bungee");
    }

    @Override
    public Collection<ProxiedPlayer> getPlayers() {
        return players.values().stream().map(player -> player.api).toList();
    }

    @Override
    public ProxiedPlayer getPlayer(UUID uuid) {
        FakePlayer player = players.get(uuid);
        return player == null ? null : player.api;
    }

    @Override
    public Map<String, ServerInfo> getServers() {
        return servers;
    }

    @Override
    public ServerInfo getServerInfo(String name) {
        return servers.get(name);
    }

    @Override
    public PluginManager getPluginManager() {
        return manager;
    }

    @Override
    public File getPluginsFolder() {
        return folder.resolve("plugins").toFile();
    }

    @Override
    public Collection<String> getDisabledCommands() {
        return List.of();
    }

    @Override
    public void broadcast(BaseComponent message) {
        players.values().forEach(player -> player.sendMessage(message));
    }

    private static UnsupportedOperationException unused() {
        return new UnsupportedOperationException("the plugin does not need it");
    }

    @Override
    public String getTranslation(String name, Object... arguments) {
        return name;
    }

    @Override
    public ProxiedPlayer getPlayer(String name) {
        throw unused();
    }

    @Override
    @Deprecated
    public ConfigurationAdapter getConfigurationAdapter() {
        throw unused();
    }

    @Override
    @Deprecated
    public void setConfigurationAdapter(ConfigurationAdapter adapter) {
        throw unused();
    }

    @Override
    public ReconnectHandler getReconnectHandler() {
        throw unused();
    }

    @Override
    public void setReconnectHandler(ReconnectHandler handler) {
        throw unused();
    }

    @Override
    public void stop() {
        throw unused();
    }

    @Override
    public void stop(String reason) {
        throw unused();
    }

    @Override
    public void registerChannel(String channel) {
        throw unused();
    }

    @Override
    public void unregisterChannel(String channel) {
        throw unused();
    }

    @Override
    public Collection<String> getChannels() {
        throw unused();
    }

    @Override
    @Deprecated
    public String getGameVersion() {
        throw unused();
    }

    @Override
    @Deprecated
    public int getProtocolVersion() {
        throw unused();
    }

    @Override
    public CommandSender getConsole() {
        throw unused();
    }

    @Override
    public int getOnlineCount() {
        return players.size();
    }

    @Override
    @Deprecated
    public void broadcast(String message) {
        throw unused();
    }

    @Override
    public void broadcast(BaseComponent... message) {
        throw unused();
    }

    @Override
    public Collection<ProxiedPlayer> matchPlayer(String name) {
        throw unused();
    }

    @Override
    public Title createTitle() {
        throw unused();
    }

    @Override
    public Unsafe unsafe() {
        throw unused();
    }
}
