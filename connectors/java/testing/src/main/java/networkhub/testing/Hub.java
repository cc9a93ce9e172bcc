package networkhub.testing;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import networkhub.HubClient;
import networkhub.HubProcess;
import networkhub.ServerState;
import networkhub.model.PunishmentKind;
import networkhub.model.PunishmentRequest;
import networkhub.model.ServerRegistration;

/** A hub, and what a network's owner does with it. */
public final class Hub implements AutoCloseable {
    private final HubProcess process = new HubProcess();
    private final String key = process.manage("POST", "/api/manage/keys", Map.of("name", "servers", "scopes", List.of("plugin")))
            .get("apiKey").getAsString();
    private final Map<String, ServerRegistration> online = new ConcurrentHashMap<>();
    private final ScheduledExecutorService beats = Executors.newSingleThreadScheduledExecutor();

    public Hub() throws IOException, InterruptedException {
        beats.scheduleWithFixedDelay(() -> online.keySet().forEach(id ->
                client().servers().heartbeat(id, ServerState.EMPTY, null)), 5, 5, TimeUnit.SECONDS);
    }

    public String url() {
        return process.url();
    }

    public int port() {
        return process.port;
    }

    /** A key as a server has it. */
    public String key() {
        return key;
    }

    public HubClient client() {
        return process.client();
    }

    public JsonObject manage(String method, String path, Map<String, Object> body) {
        return process.manage(method, path, body);
    }

    /** Keeps a server online until it is unregistered, as its heartbeats would. */
    public void register(String id, String type, int port) {
        ServerRegistration server = server(id, type, port);
        register(client(), server);
        online.put(id, server);
    }

    public static ServerRegistration server(String id, String type, int port) {
        return ServerRegistration.builder().serverId(id).serverType(type).host("192.0.2.10").port(port).build();
    }

    public static void register(HubClient client, ServerRegistration server) {
        client.servers().register(server, ServerState.EMPTY).join();
    }

    public void unregister(String id) {
        online.remove(id);
        client().servers().unregister(id).join();
    }

    /** Publishes the settings of the whole network. */
    public void publish(Map<String, Object> settings) {
        client().config().publish("network", "network-hub", HubClient.gson().toJsonTree(settings)).join();
    }

    public void punish(PunishmentKind kind, UUID player, String name, String reason) {
        client().punishments().punish(PunishmentRequest.builder().playerUuid(player).playerName(name).type(kind).reason(reason)
                .build()).join();
    }

    @Override
    public void close() throws IOException, InterruptedException {
        beats.shutdownNow();
        process.close();
    }
}
