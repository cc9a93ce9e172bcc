package networkhub.platform;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.StringJoiner;
import java.util.UUID;
import java.util.logging.Level;
import net.kyori.adventure.text.serializer.plain.PlainTextComponentSerializer;
import networkhub.plugin.Finding;
import networkhub.plugin.GameAddress;
import networkhub.plugin.Platform;
import networkhub.plugin.PlatformKind;
import networkhub.plugin.PlayerState;
import networkhub.plugin.PluginConfig;
import org.bukkit.Server;
import org.bukkit.command.CommandSender;
import org.bukkit.entity.Player;
import org.bukkit.plugin.Plugin;
import org.bukkit.plugin.java.JavaPlugin;

/** Paper and Folia, as the plugin needs them. Their schedulers are the same; on Folia each player has a thread. */
final class PaperPlatform implements Platform {
    /** Proxies answer this channel, whatever they are. */
    static final String PROXY_CHANNEL = "BungeeCord";

    private final JavaPlugin plugin;
    private final Server server;
    private final PlatformKind kind;
    private final Forwarding forwarding;
    private volatile boolean isProxied;
    private PaperPermissions permissions;

    PaperPlatform(JavaPlugin plugin, PlatformKind kind) {
        this.plugin = plugin;
        this.kind = kind;
        server = plugin.getServer();
        forwarding = Forwarding.read(plugin.getDataFolder().getAbsoluteFile().toPath().getParent().getParent());
    }

    void use(PaperPermissions permissions) {
        this.permissions = permissions;
    }

    @Override
    public void configured(PluginConfig config) {
        isProxied = config.proxied().orElse(forwarding.isOn());
    }

    @Override
    public PlayerState playerState(PluginConfig config) {
        return new PaperPlayerData(server, config.playerData(),
                (name, known) -> log(System.Logger.Level.WARNING, "player-data has no " + name + "; there are " + known));
    }

    @Override
    public PlatformKind kind() {
        return kind;
    }

    @Override
    public String version() {
        return server.getMinecraftVersion();
    }

    @Override
    public Path folder() {
        return plugin.getDataFolder().toPath();
    }

    @Override
    public int port() {
        return server.getPort();
    }

    @Override
    public int maxPlayers() {
        return server.getMaxPlayers();
    }

    @Override
    public Map<UUID, String> players() {
        Map<UUID, String> players = new HashMap<>();
        for (Player player : server.getOnlinePlayers()) players.put(player.getUniqueId(), player.getName());
        return players;
    }

    @Override
    public Set<String> plugins() {
        Set<String> names = new HashSet<>();
        for (Plugin each : server.getPluginManager().getPlugins()) names.add(each.getName());
        return names;
    }

    @Override
    public void log(System.Logger.Level level, String line) {
        // Both kinds of levels have the same numbers.
        plugin.getLogger().log(Level.parse(Integer.toString(level.getSeverity())), line);
    }

    @Override
    public void execute(Runnable task) {
        server.getGlobalRegionScheduler().execute(plugin, task);
    }

    @Override
    public void executeFor(UUID player, Runnable task) {
        Player found = server.getPlayer(player);
        if (found != null) found.getScheduler().execute(plugin, task, null, 1);
    }

    @Override
    public void send(UUID player, String text) {
        Player found = server.getPlayer(player);
        if (found != null) found.sendMessage(Components.of(text));
    }

    @Override
    public void broadcast(String text) {
        server.sendMessage(Components.of(text));
    }

    @Override
    public void kick(UUID player, String text) {
        Player found = server.getPlayer(player);
        if (found != null) found.kick(Components.of(text));
    }

    @Override
    public boolean hasPermission(UUID player, String node) {
        Player found = server.getPlayer(player);
        return found != null && found.hasPermission(node);
    }

    @Override
    public OptionalDouble balance(UUID player) {
        Player found = server.getPlayer(player);
        return found == null || !plugins().contains("Vault") ? OptionalDouble.empty() : Extensions.balance(found);
    }

    @Override
    public void permissionsChanged(UUID player) {
        executeFor(player, () -> {
            Player found = server.getPlayer(player);
            if (found != null) permissions.apply(found);
        });
    }

    @Override
    public void connect(UUID player, GameAddress target) {
        Player found = server.getPlayer(player);
        if (found == null) throw new IllegalStateException("The player is not on this server.");
        if (isProxied) {
            found.sendPluginMessage(plugin, PROXY_CHANNEL, connectMessage(target.id()));
        } else {
            transfer(found, target);
        }
    }

    private static byte[] connectMessage(String server) {
        ByteArrayOutputStream message = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(message)) {
            out.writeUTF("Connect");
            out.writeUTF(server);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return message.toByteArray();
    }

    /** By reflection, because servers before 1.20.5 lack it. */
    private static void transfer(Player player, GameAddress target) {
        try {
            Player.class.getMethod("transfer", String.class, int.class).invoke(player, target.host(), target.port());
        } catch (ReflectiveOperationException failure) {
            throw new IllegalStateException("Without a proxy players can be sent on from Minecraft 1.20.5 on.", failure);
        }
    }

    @Override
    public String runCommand(String command) {
        StringJoiner lines = new StringJoiner("\n");
        CommandSender sender = server.createCommandSender(line -> lines.add(PlainTextComponentSerializer.plainText().serialize(line)));
        if (!server.dispatchCommand(sender, command)) throw new IllegalStateException("There is no such command.");
        return lines.toString();
    }

    @Override
    public List<Finding> findings() {
        return List.of(forwarding.finding(isProxied, server.getOnlineMode()));
    }
}
