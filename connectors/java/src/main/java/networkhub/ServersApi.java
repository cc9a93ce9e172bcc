package networkhub;

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import networkhub.model.HeartbeatPlayer;
import networkhub.model.ListedServerPage;
import networkhub.model.LogBatchLine;
import networkhub.model.PresenceRecord;
import networkhub.model.ServerRegistration;
import networkhub.model.ServerSession;

/** Servers: registration, heartbeats, who is where. A {@code HubConnector} makes most of these calls itself. */
public final class ServersApi {
    private final Transport transport;

    ServersApi(Transport transport) {
        this.transport = transport;
    }

    /** Registers a server and marks it online. Again replaces what was registered; players stay. */
    public CompletableFuture<ServerSession> register(ServerRegistration server, ServerState state) {
        Call call = Call.post("servers", "register").body(server);
        state.toJson().entrySet().forEach(field -> call.body.getAsJsonObject().add(field.getKey(), field.getValue()));
        return transport.send(call, ServerSession.class);
    }

    /**
     * Keeps a server online. Fails with {@code unknown_server} where it has to register again. Never repeated.
     *
     * @param players who is on it, all of them: others have left. Null leaves them as they were
     */
    public CompletableFuture<Void> heartbeat(String serverId, ServerState state, List<HeartbeatPlayer> players) {
        Call call = Call.post("servers", "heartbeat").body(state.toJson()).once();
        call.body.getAsJsonObject().addProperty("serverId", serverId);
        if (players != null) call.body.getAsJsonObject().add("players", Json.GSON.toJsonTree(players));
        return transport.run(call);
    }

    /** Takes a server offline at once; one that is unknown stays so. */
    public CompletableFuture<Void> unregister(String serverId) {
        return transport.run(Call.post("servers", "unregister").query("serverId", serverId));
    }

    /** Puts a player on a server, and ends the transfer that sent them there. A player is on one server at most. */
    public CompletableFuture<Void> join(String serverId, UUID player, String playerName) {
        return join(serverId, player, playerName, UUID.randomUUID().toString());
    }

    /** The same under a key of the caller's: with the same key it counts once, however often it is sent. */
    public CompletableFuture<Void> join(String serverId, UUID player, String playerName, String idempotencyKey) {
        return transport.run(Call.post("servers", "players")
                .fields("serverId", serverId, "playerUuid", player, "playerName", playerName)
                .keyed()
                .header("Idempotency-Key", idempotencyKey));
    }

    /** Moves a player to another world of their server. Fails with {@code player_not_on_server}. */
    public CompletableFuture<Void> changeWorld(String serverId, UUID player, String newWorldId, String previousWorldId) {
        return transport.run(Call.post("servers", "players", "world")
                .fields("serverId", serverId, "playerUuid", player, "newWorldId", newWorldId, "previousWorldId",
                        previousWorldId));
    }

    /** Takes a player off this server; one who is elsewhere by now stays there. */
    public CompletableFuture<Void> leave(String serverId, UUID player) {
        return transport.run(Call.delete("servers", "players", player).query("serverId", serverId));
    }

    /** The servers of the network, online or not. Filters may be null; pages count from 0. */
    public CompletableFuture<ListedServerPage> list(String serverType, Boolean online, String search, int page,
            int limit) {
        return transport.send(Call.get("servers")
                .query("serverType", serverType)
                .query("online", online)
                .query("search", search)
                .query("page", page)
                .query("limit", limit), ListedServerPage.class);
    }

    /** The players who are online on servers of a type; null for all. */
    public CompletableFuture<List<PresenceRecord>> onlinePlayers(String serverType) {
        return onlinePlayers(serverType, null, List.of());
    }

    /** A header has the cursor of the next part, if there is one. */
    private CompletableFuture<List<PresenceRecord>> onlinePlayers(String serverType, String cursor, List<PresenceRecord> before) {
        Call call = Call.get("servers", "players").query("serverType", serverType).query("cursor", cursor);
        return transport.exchange(call).thenCompose(response -> {
            List<PresenceRecord> players = new ArrayList<>(before);
            players.addAll(List.of(Transport.<PresenceRecord[]>read(response, PresenceRecord[].class)));
            return response.headers().firstValue("Next-Cursor")
                    .map(next -> onlinePlayers(serverType, next, players))
                    .orElseGet(() -> CompletableFuture.completedFuture(List.copyOf(players)));
        });
    }

    /** Reports the outcome of a console command. An answer that comes too late is accepted and discarded. */
    public CompletableFuture<Void> reportCommand(String requestId, boolean success, String output, String error) {
        return transport.run(Call.post("servers", "command-result")
                .fields("requestId", requestId, "success", success, "output", output, "error", error));
    }

    /** Ships lines of the console; the hub keeps the newest 5,000 of a server. */
    public CompletableFuture<Void> shipLogs(String serverId, List<LogBatchLine> lines) {
        return transport.run(Call.post("servers", serverId, "logs").fields("lines", lines).keyed());
    }
}
