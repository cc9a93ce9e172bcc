package networkhub.example;

import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import networkhub.plugin.GameAddress;
import networkhub.plugin.Markup;
import networkhub.plugin.Platform;
import networkhub.plugin.PlatformKind;

/** The smallest platform: a game that prints what a real one would do. */
public record PrintingPlatform(Path folder, Consumer<String> out, Map<UUID, String> players, Executor main) implements Platform {
    /** A game whose main thread is one thread of its own. */
    public PrintingPlatform(Path folder, Consumer<String> out) {
        this(folder, out, new ConcurrentHashMap<>(), Executors.newSingleThreadExecutor());
    }

    @Override public PlatformKind kind() { return PlatformKind.PAPER; }

    @Override public String version() { return "1.0"; }

    @Override public int port() { return 25565; }

    @Override public int maxPlayers() { return 20; }

    @Override public Set<String> plugins() { return Set.of(); }

    @Override public boolean hasPermission(UUID player, String node) { return false; }

    @Override public void execute(Runnable task) { main.execute(task); }

    @Override public void log(System.Logger.Level level, String line) { out.accept(level + " " + line); }

    @Override public void send(UUID player, String text) { out.accept("to " + players.get(player) + ": " + Markup.plain(text)); }

    @Override public void broadcast(String text) { out.accept("to all: " + Markup.plain(text)); }

    @Override public void kick(UUID player, String text) { out.accept("kick " + players.remove(player)); }

    @Override public void connect(UUID player, GameAddress target) { out.accept("send " + players.get(player) + " to " + target.id()); }

    @Override public String runCommand(String command) { return "you said " + command; }
}
