package networkhub.plugin;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;

/** A server software that records what it is told. */
public final class FakePlatform implements Platform, AutoCloseable {
    private final PlatformKind kind;
    private final Path folder;
    private final ExecutorService main = Executors.newSingleThreadExecutor();
    final Map<UUID, String> online = new ConcurrentHashMap<>();
    final Map<UUID, Set<String>> allowed = new ConcurrentHashMap<>();
    final Map<UUID, String> kicked = new ConcurrentHashMap<>();
    final Map<UUID, GameAddress> connected = new ConcurrentHashMap<>();
    final List<String> sent = new CopyOnWriteArrayList<>();
    final List<String> broadcast = new CopyOnWriteArrayList<>();
    final List<String> log = new CopyOnWriteArrayList<>();
    final List<String> commands = new CopyOnWriteArrayList<>();
    final List<UUID> changed = new CopyOnWriteArrayList<>();
    /** Runs once, when the players are read next. */
    final AtomicReference<Runnable> afterPlayers = new AtomicReference<>(() -> { });
    volatile Collection<GameAddress> servers = List.of();
    Set<String> plugins = Set.of();

    /** A new installation, with these lines in its config file. */
    public FakePlatform(PlatformKind kind, String... config) throws IOException {
        this(kind, Files.createTempDirectory("network-hub-plugin"));
        Files.write(folder.resolve("config.properties"), List.of(config));
    }

    FakePlatform(PlatformKind kind, Path folder) {
        this.kind = kind;
        this.folder = folder;
    }

    @Override
    public PlatformKind kind() {
        return kind;
    }

    @Override
    public String version() {
        return "1.2.3";
    }

    @Override
    public Path folder() {
        return folder;
    }

    @Override
    public int port() {
        return 25565;
    }

    @Override
    public int maxPlayers() {
        return 20;
    }

    @Override
    public Map<UUID, String> players() {
        Map<UUID, String> now = Map.copyOf(online);
        afterPlayers.getAndSet(() -> { }).run();
        return now;
    }

    @Override
    public Set<String> plugins() {
        return plugins;
    }

    @Override
    public void log(System.Logger.Level level, String line) {
        log.add(line);
    }

    @Override
    public void execute(Runnable task) {
        main.execute(task);
    }

    @Override
    public void send(UUID player, String text) {
        sent.add(online.get(player) + " " + text);
    }

    @Override
    public void broadcast(String text) {
        broadcast.add(text);
    }

    @Override
    public void kick(UUID player, String text) {
        kicked.put(player, text);
    }

    @Override
    public boolean hasPermission(UUID player, String node) {
        return allowed.getOrDefault(player, Set.of()).contains(node);
    }

    @Override
    public void connect(UUID player, GameAddress target) {
        connected.put(player, target);
    }

    @Override
    public String runCommand(String command) {
        commands.add(command);
        return "ran " + command;
    }

    @Override
    public void serversChanged(Collection<GameAddress> servers) {
        this.servers = servers;
    }

    /** Ids of the servers that were handed on last. */
    Set<String> ids() {
        return servers.stream().map(GameAddress::id).collect(Collectors.toSet());
    }

    @Override
    public void permissionsChanged(UUID player) {
        changed.add(player);
    }

    @Override
    public void close() {
        main.shutdownNow();
    }
}
