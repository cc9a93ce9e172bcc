package networkhub.velocity;

import com.velocitypowered.api.command.Command;
import com.velocitypowered.api.command.CommandManager;
import com.velocitypowered.api.command.CommandMeta;
import com.velocitypowered.api.command.CommandSource;
import com.velocitypowered.api.event.Continuation;
import com.velocitypowered.api.event.EventManager;
import com.velocitypowered.api.event.EventTask;
import com.velocitypowered.api.event.Subscribe;
import com.velocitypowered.api.event.proxy.ProxyInitializeEvent;
import com.velocitypowered.api.event.proxy.ProxyShutdownEvent;
import com.velocitypowered.api.permission.PermissionFunction;
import com.velocitypowered.api.permission.Tristate;
import com.velocitypowered.api.plugin.PluginContainer;
import com.velocitypowered.api.plugin.PluginDescription;
import com.velocitypowered.api.plugin.PluginManager;
import com.velocitypowered.api.proxy.ConnectionRequestBuilder;
import com.velocitypowered.api.proxy.Player;
import com.velocitypowered.api.proxy.ProxyServer;
import com.velocitypowered.api.proxy.ServerConnection;
import com.velocitypowered.api.proxy.config.ProxyConfig;
import com.velocitypowered.api.proxy.server.RegisteredServer;
import com.velocitypowered.api.proxy.server.ServerInfo;
import com.velocitypowered.api.scheduler.ScheduledTask;
import com.velocitypowered.api.scheduler.Scheduler;
import com.velocitypowered.api.util.ProxyVersion;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import net.kyori.adventure.text.Component;
import net.kyori.adventure.text.serializer.plain.PlainTextComponentSerializer;
import networkhub.testing.Fake;
import networkhub.velocity.platform.VelocityPlugin;
import org.slf4j.Logger;

/** A Velocity with the plugin, made of the declarations: its events come in their order, and every continuation is counted. */
final class FakeVelocity implements AutoCloseable {
    final Map<String, RegisteredServer> servers = new ConcurrentHashMap<>();
    final Map<UUID, FakePlayer> players = new ConcurrentHashMap<>();
    final Map<String, Command> commands = new ConcurrentHashMap<>();
    final List<String> log = new CopyOnWriteArrayList<>();
    final Path folder;
    /** Tasks that events began, and times that one was resumed. */
    final AtomicInteger tasks = new AtomicInteger();
    final AtomicInteger resumed = new AtomicInteger();
    private final List<Object> listeners = new ArrayList<>();
    private final ProxyServer proxy;

    FakeVelocity(String... config) throws Exception {
        folder = Files.createTempDirectory("network-hub-velocity");
        Files.write(folder.resolve("config.properties"), List.of(config));
        proxy = Fake.of(ProxyServer.class, new ProxyCalls());
        listeners.add(new VelocityPlugin(proxy, Fake.of(Logger.class, new LogCalls()), folder));
        fire(new ProxyInitializeEvent());
    }

    /** Fires an event as Velocity does, and waits until all tasks are done; fails if one takes longer than a client waits. */
    void fire(Object event) throws Exception {
        record Handler(Object listener, Method method) {}
        List<Handler> handlers = new ArrayList<>();
        for (Object listener : List.copyOf(listeners)) {
            for (Method method : listener.getClass().getMethods()) {
                boolean isHandler = method.isAnnotationPresent(Subscribe.class) && method.getParameterTypes()[0].isInstance(event);
                if (isHandler) handlers.add(new Handler(listener, method));
            }
        }
        handlers.sort(Comparator.comparing(handler -> handler.method.getAnnotation(Subscribe.class).order()));
        for (Handler handler : handlers) {
            if (handler.method.invoke(handler.listener, event) instanceof EventTask task) await(task);
        }
    }

    private void await(EventTask task) throws Exception {
        tasks.incrementAndGet();
        CompletableFuture<Void> done = new CompletableFuture<>();
        task.execute(new Continuation() {
            @Override
            public void resume() {
                resumed.incrementAndGet();
                done.complete(null);
            }

            @Override
            public void resumeWithException(Throwable failure) {
                resumed.incrementAndGet();
                done.completeExceptionally(failure);
            }
        });
        done.get(20, TimeUnit.SECONDS);
    }

    FakePlayer player(String name) {
        return new FakePlayer(UUID.randomUUID(), name);
    }

    RegisteredServer addServer(String name, String host, int port) {
        return register(new ServerInfo(name, InetSocketAddress.createUnresolved(host, port)));
    }

    private RegisteredServer register(ServerInfo info) {
        RegisteredServer made = Fake.of(RegisteredServer.class, new ServerCalls(info));
        if (servers.putIfAbsent(info.getName(), made) != null) throw new IllegalArgumentException("server exists");
        return made;
    }

    static String text(Component component) {
        return PlainTextComponentSerializer.plainText().serialize(component);
    }

    @Override
    public void close() throws Exception {
        fire(new ProxyShutdownEvent());
    }

    /** A player, and what they saw. */
    final class FakePlayer {
        final UUID uuid;
        final String name;
        final Player api = Fake.of(Player.class, this);
        final List<String> texts = new CopyOnWriteArrayList<>();
        volatile String disconnected;
        volatile RegisteredServer server;
        volatile RegisteredServer requested;
        volatile PermissionFunction permissions = node -> Tristate.UNDEFINED;

        FakePlayer(UUID uuid, String name) {
            this.uuid = uuid;
            this.name = name;
        }

        UUID getUniqueId() {
            return uuid;
        }

        String getUsername() {
            return name;
        }

        InetSocketAddress getRemoteAddress() {
            return new InetSocketAddress(InetAddress.getLoopbackAddress(), 40_000);
        }

        Optional<ServerConnection> getCurrentServer() {
            return Optional.ofNullable(server).map(current -> Fake.of(ServerConnection.class, new ServerCalls(current.getServerInfo())));
        }

        ConnectionRequestBuilder createConnectionRequest(RegisteredServer target) {
            return () -> requested = target;
        }

        void disconnect(Component reason) {
            disconnected = text(reason);
        }

        void sendMessage(Component message) {
            texts.add(text(message));
        }

        Tristate getPermissionValue(String node) {
            return permissions.getPermissionValue(node);
        }
    }

    private record ServerCalls(ServerInfo info) {
        ServerInfo getServerInfo() {
            return info;
        }
    }

    private final class LogCalls {
        void info(String line) {
            log.add(line);
        }

        void warn(String line) {
            log.add("WARN " + line);
        }

        void error(String line) {
            log.add("ERROR " + line);
        }
    }

    private final class ProxyCalls {
        Optional<Player> getPlayer(UUID uuid) {
            return Optional.ofNullable(players.get(uuid)).map(player -> player.api);
        }

        Collection<Player> getAllPlayers() {
            return players.values().stream().map(player -> player.api).toList();
        }

        Optional<RegisteredServer> getServer(String name) {
            return Optional.ofNullable(servers.get(name));
        }

        RegisteredServer registerServer(ServerInfo info) {
            return register(info);
        }

        void unregisterServer(ServerInfo info) {
            servers.remove(info.getName());
        }

        void sendMessage(Component message) {
            players.values().forEach(player -> player.sendMessage(message));
        }

        PluginManager getPluginManager() {
            PluginDescription description = () -> "other";
            PluginContainer container = () -> description;
            return () -> List.of(container);
        }

        EventManager getEventManager() {
            return (plugin, listener) -> listeners.add(listener);
        }

        CommandManager getCommandManager() {
            return Fake.of(CommandManager.class, new CommandCalls());
        }

        Scheduler getScheduler() {
            return (plugin, task) -> () -> {
                CompletableFuture.runAsync(task);
                return Fake.of(ScheduledTask.class, this);
            };
        }

        InetSocketAddress getBoundAddress() {
            return new InetSocketAddress(25577);
        }

        ProxyConfig getConfiguration() {
            return () -> 100;
        }

        ProxyVersion getVersion() {
            return new ProxyVersion("Velocity", "test", "3.4.0");
        }
    }

    private record Meta(String name) implements CommandMeta, CommandMeta.Builder {
        @Override
        public Builder plugin(Object plugin) {
            return this;
        }

        @Override
        public CommandMeta build() {
            return this;
        }
    }

    private final class CommandCalls {
        CommandMeta.Builder metaBuilder(String name) {
            return new Meta(name);
        }

        void register(CommandMeta meta, Command command) {
            commands.put(((Meta) meta).name(), command);
        }

        CompletableFuture<Boolean> executeAsync(CommandSource source, String command) {
            source.sendMessage(Component.text("ran " + command));
            return CompletableFuture.completedFuture(true);
        }
    }
}
