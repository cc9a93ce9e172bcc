package networkhub;

import java.util.List;
import networkhub.model.PluginReport;
import networkhub.model.Role;

/**
 * What a server registers with.
 *
 * <pre>{@code ServerInfo.of("lobby-1", "lobby", 25565).host("play.example.org").maxPlayers(100)}</pre>
 */
public final class ServerInfo {
    private final String serverId;
    private final String serverType;
    private final int port;
    private String host;
    private String displayName;
    private String gameType;
    private Role role;
    private Integer maxPlayers;
    private String publicIp;
    private String region;
    private String pluginVersion;
    private Integer pluginBuild;
    private String pluginCommit;
    private String platformName;
    private String platformVersion;
    private List<PluginReport> plugins;

    private ServerInfo(String serverId, String serverType, int port) {
        this.serverId = serverId;
        this.serverType = serverType;
        this.port = port;
    }

    /** A server with an id of its own, a type that matchmaking finds it by, and the port that players reach it at. */
    public static ServerInfo of(String serverId, String serverType, int port) {
        return new ServerInfo(serverId, serverType, port);
    }

    /** The server's id. */
    public String serverId() {
        return serverId;
    }

    /** The server's type. */
    public String serverType() {
        return serverType;
    }

    /** Where players reach it; unset, the address that the hub sees. */
    public ServerInfo host(String host) {
        this.host = host;
        return this;
    }

    /** What players call it. */
    public ServerInfo displayName(String name) {
        this.displayName = name;
        return this;
    }

    /** Its engine: {@code MINECRAFT} or {@code HYTALE}. */
    public ServerInfo gameType(String engine) {
        this.gameType = engine;
        return this;
    }

    /** Game server, unless set, or proxy. */
    public ServerInfo role(Role role) {
        this.role = role;
        return this;
    }

    /** How many players fit; 0, unless set: no limit. */
    public ServerInfo maxPlayers(int players) {
        this.maxPlayers = players;
        return this;
    }

    /** Its address on the internet, to find its region by, where {@code host} is none. */
    public ServerInfo publicIp(String address) {
        this.publicIp = address;
        return this;
    }

    /** Its region, such as {@code EUROPE}; unset, that of its addresses. */
    public ServerInfo region(String region) {
        this.region = region;
        return this;
    }

    /** The build of the plugin that embeds this library; the last two may be null. */
    public ServerInfo plugin(String version, Integer build, String commit) {
        this.pluginVersion = version;
        this.pluginBuild = build;
        this.pluginCommit = commit;
        return this;
    }

    /** What the server runs on, such as {@code Paper} and {@code 1.21.4}. */
    public ServerInfo platform(String name, String version) {
        this.platformName = name;
        this.platformVersion = version;
        return this;
    }

    /** The plugins it runs. */
    public ServerInfo plugins(List<PluginReport> plugins) {
        this.plugins = List.copyOf(plugins);
        return this;
    }
}
