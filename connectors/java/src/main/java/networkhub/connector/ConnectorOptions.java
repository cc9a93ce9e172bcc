package networkhub.connector;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import networkhub.HubClient;
import networkhub.model.ServerRegistration;
import networkhub.ServerState;

/** The settings of a connector. All have defaults that fit most servers. */
public final class ConnectorOptions {
    /** Event types that hubs older than this connector know. */
    static final Set<String> EVENTS_OF_OLDER_HUBS = Set.of("CHAT", "PUNISHMENT", "TRANSFER", "EXECUTE_COMMAND",
            "LOCALIZATION_UPDATED", "WORLD_READY", "WORLD_OPEN", "WORLD_SNAPSHOT", "WORLD_UNLOAD", "CONFIG_UPDATED",
            "SIGNING_SECRET_ROTATED");

    final HubClient client;
    final ServerRegistration info;
    final GameServer game;
    final Set<String> events = new LinkedHashSet<>(EVENTS_OF_OLDER_HUBS);
    final List<String> namespaces = new ArrayList<>();
    final Map<String, Map<String, String>> messages = new LinkedHashMap<>();
    private final List<String> extraData = new ArrayList<>();
    ServerState state = ServerState.EMPTY;
    String defaultLocale = "en";
    String permissionContext;
    String gameMode;
    String gameType;
    boolean allowUnverified;
    Duration trustClean = Duration.ofMinutes(10);
    PlayerDataHandler dataHandler = new PlayerDataHandler() {};
    List<String> dataNamespaces = List.of();
    Duration autosave = Duration.ofSeconds(60);
    Duration joinTimeout = Duration.ofSeconds(4);

    ConnectorOptions(HubClient client, ServerRegistration info, GameServer game) {
        this.client = Objects.requireNonNull(client);
        this.info = Objects.requireNonNull(info);
        this.game = Objects.requireNonNull(game);
        events.addAll(List.of("PERMISSIONS_UPDATED", "SESSION_REQUESTED", "SESSION_ENDED", "DELIVERY_READY", "TICKET_MATCHED",
                "TICKET_UPDATED"));
    }

    /** The state at the start. */
    public ConnectorOptions state(ServerState state) {
        this.state = state;
        return this;
    }

    /** More events to listen to, such as {@code PLAYER_JOINED}; see {@link HubConnector#on}. */
    public ConnectorOptions events(String... types) {
        events.addAll(List.of(types));
        return this;
    }

    /** The plugin's own messages of a language, which are registered under the namespace and used until the network has others. */
    public ConnectorOptions messages(String namespace, String locale, Map<String, String> messages) {
        if (!namespaces.contains(namespace)) namespaces.add(0, namespace);
        this.messages.put(locale, Map.copyOf(messages));
        return this;
    }

    /** More namespaces to read messages from. */
    public ConnectorOptions namespaces(Collection<String> namespaces) {
        this.namespaces.addAll(namespaces);
        return this;
    }

    /** The language of last resort, {@code en} unless set. */
    public ConnectorOptions defaultLocale(String locale) {
        this.defaultLocale = locale;
        return this;
    }

    /** Context of this server's permissions, such as {@code server=lobby}; by default only permissions without a context apply. */
    public ConnectorOptions permissionContext(String context) {
        this.permissionContext = context;
        return this;
    }

    /** Game mode whose data a join loads; {@code global} by default. */
    public ConnectorOptions gameMode(String gameMode) {
        this.gameMode = gameMode;
        return this;
    }

    /** The engine of players who join: {@code MINECRAFT} or {@code HYTALE}. */
    public ConnectorOptions gameType(String gameType) {
        this.gameType = gameType;
        return this;
    }

    /** More that a join loads besides permissions, punishments and language: {@code balances}, {@code statistics}, {@code data:NAMESPACE}. */
    public ConnectorOptions load(String... include) {
        extraData.addAll(List.of(include));
        return this;
    }

    /**
     * While the hub is away, lets players join of whom nothing current is known: bans fail open. Unset, they fail closed.
     */
    public ConnectorOptions allowUnverified() {
        this.allowUnverified = true;
        return this;
    }

    /** For how long into an outage players may come back who were checked before it and had no ban; 10 minutes unless set. */
    public ConnectorOptions trustClean(Duration duration) {
        this.trustClean = duration;
        return this;
    }

    /** Maximum wait of a join for the hub; 4 s by default. */
    public ConnectorOptions joinTimeout(Duration timeout) {
        this.joinTimeout = timeout;
        return this;
    }

    /**
     * The namespaces of players' data that this server loads and saves, by player sessions; see {@link HubConnector#playerData}. Without
     * any, no sessions are opened.
     */
    public ConnectorOptions playerData(PlayerDataHandler handler, String... namespaces) {
        this.dataHandler = Objects.requireNonNull(handler);
        this.dataNamespaces = List.of(namespaces);
        return this;
    }

    /** Time between two saves of a player's data while they play; 60 s by default, zero for none. */
    public ConnectorOptions autosave(Duration interval) {
        this.autosave = interval;
        return this;
    }

    /** The connector, to be started. */
    public HubConnector connector() {
        return new HubConnector(this);
    }

    List<String> include() {
        List<String> include = new ArrayList<>(List.of("permissions", "punishments", "language"));
        include.addAll(extraData);
        return include;
    }
}
