package networkhub.plugin;

import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.UUID;
import networkhub.connector.HubConnector;

/**
 * A server software, as the shell needs it: implemented by each jar, which extends {@link ProxyServers} for a proxy.
 *
 * <p><b>Threads.</b> Every method but {@link #connect}, {@link #kick} and {@link #runCommand} may be called on any thread and must
 * return at once. Those three are called through {@link #execute} or {@link #executeFor}.
 *
 * <p><b>Texts</b> are MiniMessage.
 */
public interface Platform {
    /** Kind of software, which decides what the shell does. */
    PlatformKind kind();

    /** Version of the software, for the hub's list of servers. */
    String version();

    /** Folder of the plugin's files. */
    Path folder();

    /** Port for players. */
    int port();

    /** Maximum number of players; 0: no limit. */
    int maxPlayers();

    /** Names of the players who are online, by UUID. */
    Map<UUID, String> players();

    /** Names of the installed plugins. */
    Set<String> plugins();

    /** Writes a line to the server's log. */
    void log(System.Logger.Level level, String line);

    /** Runs a task soon on the main thread, or on any other thread than the caller's where there is none. */
    void execute(Runnable task);

    /** Runs a task soon on the thread that may touch a player; it is dropped if they left. */
    default void executeFor(UUID player, Runnable task) {
        execute(task);
    }

    /** Shows a text to a player, if they are online. */
    void send(UUID player, String text);

    /** Shows a text to all players. */
    void broadcast(String text);

    /** Disconnects a player, if they are online. */
    void kick(UUID player, String text);

    /** True if the server lets a player use a permission. */
    boolean hasPermission(UUID player, String node);

    /**
     * Sends a player to another server.
     *
     * @throws RuntimeException if that is not possible, with the reason as its message
     */
    void connect(UUID player, GameAddress target);

    /**
     * Runs a console command, without a slash in front, and returns what it printed.
     *
     * @throws RuntimeException if it failed, with the reason as its message
     */
    String runCommand(String command);

    /** Takes the settings of this server, before anything is asked of them. */
    default void configured(PluginConfig config) {}

    /** Parts of the players' state that move with them, by the settings of this server; null for none. */
    default PlayerState playerState(PluginConfig config) {
        return null;
    }

    /** Money of a player as another plugin has it; called where the player may be touched. */
    default OptionalDouble balance(UUID player) {
        return OptionalDouble.empty();
    }

    /** Takes the connector before it starts, for deliveries and events of its own; not with {@code mode=observe}. */
    default void connecting(HubConnector hub) {}

    /** Takes the game servers of the network, on proxies: those that are online or were last known. */
    default void serversChanged(Collection<GameAddress> servers) {}

    /** Takes the news that a player's permissions are others now. */
    default void permissionsChanged(UUID player) {}

    /** Returns what the software's own settings get wrong, such as the forwarding of addresses. */
    default List<Finding> findings() {
        return List.of();
    }
}
