package networkhub.platform;

import com.velocitypowered.api.command.CommandSource;
import com.velocitypowered.api.permission.Tristate;
import com.velocitypowered.api.plugin.PluginContainer;
import com.velocitypowered.api.proxy.Player;
import com.velocitypowered.api.proxy.ProxyServer;
import com.velocitypowered.api.proxy.server.RegisteredServer;
import com.velocitypowered.api.proxy.server.ServerInfo;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import net.kyori.adventure.text.Component;
import net.kyori.adventure.text.serializer.plain.PlainTextComponentSerializer;
import networkhub.plugin.GameAddress;
import networkhub.plugin.Platform;
import networkhub.plugin.PlatformKind;
import networkhub.plugin.ProxyServers;
import org.slf4j.Logger;

/** Velocity, as the plugin needs it. */
final class VelocityPlatform implements Platform {
    private static final long COMMAND_SECONDS = 10;

    private final Object plugin;
    private final ProxyServer proxy;
    private final Logger log;
    private final Path folder;
    private final ProxyServers servers = new Servers();

    VelocityPlatform(Object plugin, ProxyServer proxy, Logger log, Path folder) {
        this.plugin = plugin;
        this.proxy = proxy;
        this.log = log;
        this.folder = folder;
    }

    @Override
    public PlatformKind kind() {
        return PlatformKind.VELOCITY;
    }

    @Override
    public String version() {
        return proxy.getVersion().getVersion();
    }

    @Override
    public Path folder() {
        return folder;
    }

    @Override
    public int port() {
        return proxy.getBoundAddress().getPort();
    }

    @Override
    public int maxPlayers() {
        return proxy.getConfiguration().getShowMaxPlayers();
    }

    @Override
    public Map<UUID, String> players() {
        Map<UUID, String> players = new HashMap<>();
        for (Player player : proxy.getAllPlayers()) players.put(player.getUniqueId(), player.getUsername());
        return players;
    }

    @Override
    public Set<String> plugins() {
        Set<String> names = new HashSet<>();
        for (PluginContainer each : proxy.getPluginManager().getPlugins()) names.add(each.getDescription().getId());
        return names;
    }

    @Override
    public void log(System.Logger.Level level, String line) {
        switch (level) {
            case ERROR -> log.error(line);
            case WARNING -> log.warn(line);
            default -> log.info(line);
        }
    }

    @Override
    public void execute(Runnable task) {
        proxy.getScheduler().buildTask(plugin, task).schedule();
    }

    @Override
    public void send(UUID player, String text) {
        proxy.getPlayer(player).ifPresent(found -> found.sendMessage(Components.of(text)));
    }

    @Override
    public void broadcast(String text) {
        proxy.sendMessage(Components.of(text));
    }

    @Override
    public void kick(UUID player, String text) {
        proxy.getPlayer(player).ifPresent(found -> found.disconnect(Components.of(text)));
    }

    @Override
    public boolean hasPermission(UUID player, String node) {
        return proxy.getPlayer(player).map(found -> found.hasPermission(node)).orElse(false);
    }

    @Override
    public void connect(UUID player, GameAddress target) {
        Player found = proxy.getPlayer(player).orElseThrow(() -> new IllegalStateException("The player is not on this proxy."));
        found.createConnectionRequest(server(target)).fireAndForget();
    }

    /** The proxy's server of this name; registered if there is none yet. */
    RegisteredServer server(GameAddress target) {
        servers.ensure(target);
        return proxy.getServer(target.id()).orElseThrow();
    }

    @Override
    public void serversChanged(Collection<GameAddress> changed) {
        servers.replaceAll(changed);
    }

    private final class Servers extends ProxyServers {
        @Override
        protected boolean has(String id) {
            return proxy.getServer(id).isPresent();
        }

        @Override
        protected void put(GameAddress server) {
            remove(server.id());
            proxy.registerServer(new ServerInfo(server.id(), InetSocketAddress.createUnresolved(server.host(), server.port())));
        }

        @Override
        protected boolean remove(String id) {
            proxy.getServer(id).ifPresent(known -> proxy.unregisterServer(known.getServerInfo()));
            return true;
        }
    }

    @Override
    public String runCommand(String command) {
        Output output = new Output();
        try {
            boolean isKnown = proxy.getCommandManager().executeAsync(output, command).get(COMMAND_SECONDS, TimeUnit.SECONDS);
            if (!isKnown) throw new IllegalStateException("There is no such command.");
        } catch (TimeoutException | ExecutionException failure) {
            throw new IllegalStateException("The command failed: " + failure, failure);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("The proxy is stopping.", interrupted);
        }
        return output.toString();
    }

    /** The console, with its output collected. */
    private static final class Output implements CommandSource {
        private final StringJoiner lines = new StringJoiner("\n");

        @Override
        public synchronized void sendMessage(Component text) {
            lines.add(PlainTextComponentSerializer.plainText().serialize(text));
        }

        @Override
        public Tristate getPermissionValue(String node) {
            return Tristate.TRUE;
        }

        @Override
        public synchronized String toString() {
            return lines.toString();
        }
    }
}
