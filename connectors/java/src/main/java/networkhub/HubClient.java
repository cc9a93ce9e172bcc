package networkhub;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.Collection;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import networkhub.model.BuildStamp;

/**
 * All calls of a game server to its hub.
 *
 * <p><b>Threads.</b> Every method may be called from any thread, returns at once and never blocks. Futures complete on threads
 * of the client: go back to your own with {@code thenAcceptAsync(…, mainThread)}.
 *
 * <p><b>Errors.</b> A future fails with a {@link HubException}: its code is for programs, its message for people.
 *
 * <p><b>Repeats.</b> Calls that may be repeated without a second effect are, after a delay, where no answer came or the hub
 * was stopping or over a rate limit ({@link RetryPolicy}). Others that change something carry an {@code Idempotency-Key}, with which
 * the hub carries out a repeat once. Two calls are made once only: {@link PlayersApi#putData} with a version, because a repeat
 * would find its own version, and the heartbeat, because the next one says more.
 *
 * <p><b>Units.</b> Times are milliseconds since the Unix epoch, spans are milliseconds where a name ends in {@code Ms}.
 */
public final class HubClient {
    private final Transport transport;

    private HubClient(Transport transport) {
        this.transport = transport;
    }

    /** A client with the usual settings, for the hub at an address such as {@code https://hub.example} with an API key. */
    public static HubClient create(String url, String apiKey) {
        return builder(url, apiKey).build();
    }

    /** A client to be configured. */
    public static Builder builder(String url, String apiKey) {
        return new Builder(url, apiKey);
    }

    /** The same client with another policy for repeats. */
    public HubClient withRetries(RetryPolicy retry) {
        return new HubClient(transport.with(retry));
    }

    /** The same client with another time limit for each attempt of a call. */
    public HubClient withTimeout(Duration timeout) {
        return new HubClient(transport.with(timeout));
    }

    /** Servers: registration, heartbeats, who is where. */
    public ServersApi servers() {
        return new ServersApi(transport);
    }

    /** Players: profiles, data, addresses, statistics. */
    public PlayersApi players() {
        return new PlayersApi(transport);
    }

    /** Money, and the statistics of owners that are no players. */
    public EconomyApi economy() {
        return new EconomyApi(transport);
    }

    /** What is owed to players. */
    public DeliveriesApi deliveries() {
        return new DeliveriesApi(transport);
    }

    /** Finding servers and worlds, and waiting for them. */
    public MatchmakingApi matchmaking() {
        return new MatchmakingApi(transport);
    }

    /** Sending players to other servers. */
    public TransfersApi transfers() {
        return new TransfersApi(transport);
    }

    /** Bans, mutes, warnings, kicks. */
    public PunishmentsApi punishments() {
        return new PunishmentsApi(transport);
    }

    /** Reports of players about players. */
    public ReportsApi reports() {
        return new ReportsApi(transport);
    }

    /** Groups and what players may do. */
    public PermissionsApi permissions() {
        return new PermissionsApi(transport);
    }

    /** Messages and languages. */
    public LocalizationApi localization() {
        return new LocalizationApi(transport);
    }

    /** Config documents. */
    public ConfigApi config() {
        return new ConfigApi(transport);
    }

    /** Documents with indexes. */
    public CollectionsApi collections() {
        return new CollectionsApi(transport);
    }

    /** Worlds on demand. */
    public WorldsApi worlds() {
        return new WorldsApi(transport);
    }

    /** The network's chat. */
    public ChatApi chat() {
        return new ChatApi(transport);
    }

    /** The hub's build. */
    public CompletableFuture<BuildStamp> version() {
        return transport.send(Call.at("GET", "/api/version"), BuildStamp.class);
    }

    /** The hub's OpenAPI document. */
    public CompletableFuture<JsonObject> openApi() {
        return transport.send(Call.at("GET", "/api/openapi.json"), JsonObject.class);
    }

    /**
     * Any other call, such as one that is newer than this library.
     *
     * @param path with its query, escaped
     * @param body sent as JSON; null for none
     * @return the answer; null for one without a body
     */
    public CompletableFuture<JsonElement> call(String method, String path, JsonElement body) {
        Call call = Call.at(method, path);
        if (body != null) call.body(body);
        if (method.equals("POST")) call.keyed();
        return transport.send(call, JsonElement.class);
    }

    /**
     * An event stream that is not open yet.
     *
     * @param serverId whose commands it carries; null for only what is for the whole network
     * @param types the events it carries; empty for the hub's usual ones
     * @param executor one thread, on which the listener is called
     */
    public EventStream events(String serverId, Collection<String> types, ScheduledExecutorService executor,
            EventStream.Listener listener) {
        return new EventStream(transport, serverId, types, executor, listener);
    }

    /** The Gson that reads and writes the hub's JSON, records included. */
    public static Gson gson() {
        return Json.GSON;
    }

    /** The settings of a client. */
    public static final class Builder {
        private final URI url;
        private final String apiKey;
        private Duration timeout = Duration.ofSeconds(15);
        private Duration connectTimeout = Duration.ofSeconds(5);
        private RetryPolicy retry = RetryPolicy.DEFAULT;

        private Builder(String url, String apiKey) {
            this.url = URI.create(Objects.requireNonNull(url, "the hub's address is missing").trim());
            String scheme = this.url.getScheme();
            if (!"http".equals(scheme) && !"https".equals(scheme)) {
                throw new IllegalArgumentException("the hub's address must begin with http:// or https://: " + url);
            }
            this.apiKey = Objects.requireNonNull(apiKey, "the API key is missing").trim();
            if (this.apiKey.isEmpty()) throw new IllegalArgumentException("the API key is blank");
        }

        /** Time limit for one attempt of a call; 15 s by default. */
        public Builder timeout(Duration timeout) {
            this.timeout = timeout;
            return this;
        }

        /** Time limit for connecting; 5 s by default. */
        public Builder connectTimeout(Duration timeout) {
            this.connectTimeout = timeout;
            return this;
        }

        /** Policy for repeats. */
        public Builder retry(RetryPolicy retry) {
            this.retry = retry;
            return this;
        }

        /** The client. */
        public HubClient build() {
            HttpClient http = HttpClient.newBuilder()
                    .version(HttpClient.Version.HTTP_1_1)
                    .connectTimeout(connectTimeout)
                    .build();
            return new HubClient(new Transport(http, url, apiKey, timeout, retry));
        }
    }
}
