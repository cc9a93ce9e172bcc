package networkhub.example.minestom;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import net.kyori.adventure.text.Component;
import net.kyori.adventure.text.serializer.plain.PlainTextComponentSerializer;
import net.minestom.server.MinecraftServer;
import net.minestom.server.adventure.audience.Audiences;
import net.minestom.server.command.ServerSender;
import net.minestom.server.command.builder.CommandResult;
import net.minestom.server.entity.Player;
import networkhub.connector.HubConnector;
import networkhub.plugin.GameAddress;
import networkhub.plugin.Platform;
import networkhub.plugin.PlatformKind;
import networkhub.plugin.PlayerState;
import networkhub.plugin.PluginConfig;

/** Minestom, as the plugin needs it. Players are sent on by Minecraft's transfer packet. */
final class MinestomPlatform implements Platform {
    private final Path folder;
    private final int port;
    private final int maxPlayers;
    /** Until the hub was told of their leave, which is later than Minestom forgets them. */
    private final Map<UUID, Player> players = new ConcurrentHashMap<>();
    private final Shop shop = new Shop(this);

    MinestomPlatform(Path folder, int port, int maxPlayers) {
        this.folder = folder;
        this.port = port;
        this.maxPlayers = maxPlayers;
    }

    Shop shop() {
        return shop;
    }

    Player player(UUID player) {
        return players.get(player);
    }

    void add(Player player) {
        players.put(player.getUuid(), player);
    }

    /** Returns false if the player is here again by another connection. */
    boolean isHere(Player player) {
        return players.get(player.getUuid()) == player;
    }

    void remove(Player player) {
        players.remove(player.getUuid(), player);
    }

    @Override
    public void connecting(HubConnector hub) {
        shop.open(hub);
    }

    @Override
    public PlayerState playerState(PluginConfig config) {
        return new MinestomItems(this);
    }

    @Override
    public PlatformKind kind() {
        return PlatformKind.MINESTOM;
    }

    @Override
    public String version() {
        return MinecraftServer.VERSION_NAME;
    }

    @Override
    public Path folder() {
        return folder;
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public int maxPlayers() {
        return maxPlayers;
    }

    @Override
    public Map<UUID, String> players() {
        Map<UUID, String> names = new HashMap<>();
        players.forEach((id, player) -> names.put(id, player.getUsername()));
        return names;
    }

    @Override
    public Set<String> plugins() {
        return Set.of();
    }

    @Override
    public void log(System.Logger.Level level, String line) {
        System.out.println(level + " " + line);
    }

    @Override
    public void execute(Runnable task) {
        MinecraftServer.getSchedulerManager().scheduleNextTick(task);
    }

    /** The player's own scheduler runs on the thread that ticks them, and no longer when they have left. */
    @Override
    public void executeFor(UUID player, Runnable task) {
        Player found = players.get(player);
        if (found != null) found.scheduler().scheduleNextTick(task);
    }

    @Override
    public void send(UUID player, String text) {
        Player found = players.get(player);
        if (found != null) found.sendMessage(MinestomTexts.of(text));
    }

    @Override
    public void broadcast(String text) {
        Audiences.players().sendMessage(MinestomTexts.of(text));
    }

    @Override
    public void kick(UUID player, String text) {
        Player found = players.get(player);
        if (found != null) found.kick(MinestomTexts.of(text));
    }

    /** Minestom has no permissions of its own. */
    @Override
    public boolean hasPermission(UUID player, String node) {
        return false;
    }

    @Override
    public void permissionsChanged(UUID player) {
        executeFor(player, () -> {
            Player found = players.get(player);
            if (found != null) found.refreshCommands();
        });
    }

    @Override
    public void connect(UUID player, GameAddress target) {
        Player found = players.get(player);
        if (found == null) throw new IllegalStateException("The player is not on this server.");
        found.getPlayerConnection().transfer(target.host(), target.port());
    }

    @Override
    public String runCommand(String command) {
        StringJoiner lines = new StringJoiner("\n");
        ServerSender sender = new ServerSender() {
            @Override
            public void sendMessage(Component message) {
                lines.add(PlainTextComponentSerializer.plainText().serialize(message));
            }
        };
        CommandResult result = MinecraftServer.getCommandManager().execute(sender, command);
        if (result.getType() == CommandResult.Type.UNKNOWN) throw new IllegalStateException("There is no such command.");
        return lines.toString();
    }
}
