package networkhub.plugin;

import static networkhub.Eventually.eventually;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import networkhub.HubProcess;
import networkhub.model.PunishmentKind;
import networkhub.model.PunishmentRequest;

/** A hub with plugins of fake servers. */
public final class Network implements AutoCloseable {
    /** A server with the plugin. */
    record Server(FakePlatform platform, HubPlugin plugin) {
        Sender player(UUID player) {
            return plugin.player(player, platform.online.get(player));
        }

        /** Lets a player log in and join. */
        void join(UUID player, String name) {
            plugin.preLogin(player, name, "192.0.2.7").join();
            platform.online.put(player, name);
            plugin.joined(player, name);
        }

        /** Runs a command, and returns where its answers will be. */
        List<String> run(Sender sender, String name, String... arguments) {
            List<String> answers = new CopyOnWriteArrayList<>();
            command(name).run(new Sender(sender.player(), sender.name(), answers::add), arguments);
            return answers;
        }

        HubCommand command(String name) {
            return plugin.commands().stream().filter(each -> each.name().equals(name)).findFirst().orElseThrow();
        }
    }

    public final HubProcess hub = new HubProcess();
    /** A key as a server has it. */
    final String key = hub.manage("POST", "/api/manage/keys", Map.of("name", "servers", "scopes", List.of("plugin"))).get("apiKey").getAsString();
    private final List<Server> servers = new ArrayList<>();

    public Network() throws IOException, InterruptedException {}

    /** A server whose plugin is connected. */
    Server server(PlatformKind kind, String... config) throws Exception {
        Server server = unconnected(kind, config);
        eventually("the plugin is connected",
                () -> server.plugin.connection().orElseThrow().hub.status().isConnected());
        return server;
    }

    Server unconnected(PlatformKind kind, String... config) throws IOException {
        List<String> lines = new ArrayList<>(List.of("url=" + hub.url(), "key=" + key));
        lines.addAll(List.of(config));
        return started(new FakePlatform(kind, lines.toArray(String[]::new)));
    }

    Server started(FakePlatform platform) {
        Server server = new Server(platform, new HubPlugin(platform, Map.of()));
        servers.add(server);
        server.plugin.start();
        return server;
    }

    public void punish(PunishmentKind kind, UUID player, String name, String reason) {
        hub.client().punishments().punish(PunishmentRequest.builder().playerUuid(player).playerName(name).type(kind)
                .reason(reason).build()).join();
    }

    /** Stops the servers of a test. */
    void stopServers() {
        for (Server server : servers) {
            server.plugin.stop();
            server.platform.close();
        }
        servers.clear();
    }

    @Override
    public void close() throws IOException, InterruptedException {
        stopServers();
        hub.close();
    }
}
