package networkhub.plugin;

import static networkhub.Eventually.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import networkhub.HubClient;
import networkhub.TcpProxy;
import networkhub.model.PunishmentKind;
import org.junit.jupiter.api.Test;

/** Each with a hub of its own, because they kill it or count its servers. */
class RoutingTest {
    private final UUID player = UUID.randomUUID();
    private final UUID banned = UUID.randomUUID();

    private static Network.Server proxy(Network network, int lobbies) throws Exception {
        for (int i = 1; i <= lobbies; i++) network.server(PlatformKind.PAPER, "server-id=lobby-" + i, "type=lobby");
        Network.Server proxy = network.server(PlatformKind.VELOCITY);
        eventually("the lobbies are known", () -> proxy.platform().servers.size() == lobbies);
        return proxy;
    }

    @Test
    void playersComeToALobbyAndFallBackToOthersUntilThreeHaveFailed() throws Exception {
        try (Network network = new Network()) {
            Network.Server proxy = proxy(network, 4);
            assertTrue(proxy.plugin().routes());
            Set<String> tried = new HashSet<>();
            Route route = proxy.plugin().firstServer(player, "jeb_").join();
            while (route.server() != null) {
                assertTrue(tried.add(route.server().id()), "a server that failed is not tried again: " + tried);
                route = proxy.plugin().nextServer(player, "jeb_", route.server().id()).join();
            }
            assertEquals(3, tried.size());
            assertTrue(route.text().contains("Several servers"), route.text());
            assertEquals(4, proxy.platform().servers.size());
        }
    }

    @Test
    void withoutAServerThePlayerIsToldSo() throws Exception {
        try (Network network = new Network()) {
            Network.Server proxy = network.server(PlatformKind.BUNGEECORD);
            Route route = proxy.plugin().firstServer(player, "jeb_").join();
            assertNull(route.server());
            assertTrue(route.text().contains("No server is available"), route.text());
        }
    }

    @Test
    void killedHubLeavesBansAndLobbiesInForce() throws Exception {
        try (Network network = new Network()) {
            Network.Server proxy = proxy(network, 2);
            network.punish(PunishmentKind.BAN, banned, "cheater", "fly");
            proxy.join(player, "jeb_");
            assertFalse(proxy.plugin().preLogin(banned, "cheater", null).join().isAllowed());
            network.hub.kill();
            long began = System.nanoTime();
            assertFalse(proxy.plugin().preLogin(banned, "cheater", null).join().isAllowed());
            assertTrue(proxy.plugin().preLogin(player, "jeb_", "192.0.2.7").join().isAllowed());
            Verdict unknown = proxy.plugin().preLogin(UUID.randomUUID(), "Notch", null).join();
            assertTrue(unknown.text().contains("cannot be checked"), unknown.text());
            String lobby = proxy.plugin().firstServer(player, "jeb_").join().server().id();
            assertFalse(lobby.equals(proxy.plugin().nextServer(player, "jeb_", lobby).join().server().id()));
            assertTrue(System.nanoTime() - began < TimeUnit.SECONDS.toNanos(25), "five answers within five times five seconds");

            // A proxy that starts now knows the lobbies from its disk.
            Path folder = proxy.platform().folder();
            proxy.plugin().stop();
            Network.Server restarted = network.started(new FakePlatform(PlatformKind.VELOCITY, folder));
            assertEquals(2, restarted.platform().servers.size());
            assertTrue(restarted.plugin().firstServer(player, "jeb_").join().server().id().startsWith("lobby-"));
            network.hub.start();
            eventually("the proxy is back", () -> restarted.plugin().connection().orElseThrow().hub.status().isConnected());
        }
    }

    /** A hub that comes back after an outage knows no server until that one has registered again. */
    @Test
    void lobbiesThatTheHubDoesNotKnowYetStay() throws Exception {
        try (Network network = new Network()) {
            FakePlatform platform = new FakePlatform(PlatformKind.VELOCITY, "url=" + network.hub.url(), "key=" + network.key);
            Path file = platform.folder().resolve("servers.json");
            Files.writeString(file, HubClient.gson().toJson(List.of(new GameAddress("lobby-9", "lobby", "192.0.2.9", 25565, 0, 0, true))));
            network.started(platform);
            Network.Server lobby = network.server(PlatformKind.PAPER, "server-id=lobby-1", "type=lobby");
            eventually("the other lobby is known", () -> platform.ids().contains("lobby-1"));
            assertEquals(Set.of("lobby-1", "lobby-9"), platform.ids());
            assertTrue(Files.readString(file).contains("lobby-9"));
            lobby.plugin().stop();
            eventually("a lobby that was stopped is gone", () -> platform.ids().equals(Set.of("lobby-9")));
        }
    }

    @Test
    void reloadLeavesBansAndMutesInForce() throws Exception {
        try (Network network = new Network(); TcpProxy link = new TcpProxy(network.hub.port)) {
            Network.Server game = network.started(new FakePlatform(PlatformKind.PAPER, "url=" + link.url(), "key=" + network.key));
            eventually("the plugin is connected", () -> game.plugin().connection().orElseThrow().hub.status().isConnected());
            network.punish(PunishmentKind.BAN, banned, "cheater", "fly");
            network.punish(PunishmentKind.MUTE, player, "jeb_", "spam");
            assertFalse(game.plugin().preLogin(banned, "cheater", null).join().isAllowed());
            game.join(player, "jeb_");
            // The reload takes as long as the hub may be told that the server is offline.
            link.cut();
            CompletableFuture<Void> reload = CompletableFuture.runAsync(game.plugin()::reload);
            List<CompletableFuture<Verdict>> verdicts = new ArrayList<>();
            while (!reload.isDone()) {
                assertTrue(game.plugin().isSilenced(player));
                verdicts.add(game.plugin().preLogin(banned, "cheater", null));
                Thread.sleep(200);
            }
            for (CompletableFuture<Verdict> verdict : verdicts) assertFalse(verdict.join().isAllowed());
            link.heal();
        }
    }

    @Test
    void silentHubDelaysALoginBySecondsOnly() throws Exception {
        try (Network network = new Network(); TcpProxy link = new TcpProxy(network.hub.port)) {
            proxy(network, 1).plugin().stop();
            FakePlatform platform = new FakePlatform(PlatformKind.VELOCITY, "url=" + link.url(), "key=" + network.key,
                    "allow-unverified=true");
            Network.Server proxy = network.started(platform);
            eventually("the lobby is known", () -> platform.servers.size() == 1);
            link.cut();
            long began = System.nanoTime();
            assertTrue(proxy.plugin().preLogin(player, "jeb_", null).join().isAllowed());
            assertEquals("lobby-1", proxy.plugin().firstServer(player, "jeb_").join().server().id());
            assertTrue(Duration.ofNanos(System.nanoTime() - began).toSeconds() < 25, "a client waits for 30 s");
            link.heal();
        }
    }
}
