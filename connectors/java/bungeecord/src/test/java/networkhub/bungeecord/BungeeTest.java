package networkhub.bungeecord;

import static networkhub.Eventually.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import net.md_5.bungee.api.CommandSender;
import net.md_5.bungee.api.ServerPing;
import net.md_5.bungee.api.chat.BaseComponent;
import net.md_5.bungee.api.chat.TextComponent;
import net.md_5.bungee.api.event.PlayerDisconnectEvent;
import net.md_5.bungee.api.event.ServerKickEvent;
import networkhub.HubProcess;
import networkhub.TcpProxy;
import networkhub.model.PermissionNodeInput;
import networkhub.model.PunishmentKind;
import networkhub.testing.Fake;
import networkhub.testing.Hub;
import networkhub.testing.PlatformTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The jar in BungeeCord's own loader and events, with a real hub. */
class BungeeTest extends PlatformTest {
    private FakeBungee proxy;

    @BeforeAll
    void registerServers() {
        hub.register("lobby-1", "lobby", 30_001);
        hub.register("lobby-2", "lobby", 30_002);
    }

    @AfterEach
    void stopProxy() {
        assertEquals(proxy.held.get(), proxy.answered.get(), "every event that waits is done once");
        proxy.close();
    }

    private void start(String url, String key) throws Exception {
        proxy = new FakeBungee(System.getProperty("bungeecord.jar"), "url=" + url, "key=" + key, "server-id=proxy-" + UUID.randomUUID());
        eventually("the plugin is connected", () -> doctor().contains("registered as"));
    }

    private void connect() throws Exception {
        start(hub.url(), hub.key());
        eventually("the hub's servers are the proxy's", () -> proxy.servers.size() == 2);
    }

    @Override
    protected List<String> run(String command, String... arguments) {
        List<String> answers = new CopyOnWriteArrayList<>();
        CommandSender console = Fake.of(CommandSender.class, new Object() {
            String getName() {
                return "CONSOLE";
            }

            void sendMessage(BaseComponent line) {
                answers.add(line.toPlainText());
            }
        });
        assertTrue(proxy.getPluginManager().dispatchCommand(console, command + " " + String.join(" ", arguments)));
        return answers;
    }

    private ServerKickEvent kick(FakeBungee.FakePlayer player, String server, ServerKickEvent.State state) {
        return proxy.getPluginManager().callEvent(new ServerKickEvent(player.api, proxy.servers.get(server),
                new TextComponent("closed"), null, state));
    }

    @Test
    void selfTestFindsAllMembersAndNoProblem() throws Exception {
        connect();
        String findings = doctor();
        assertTrue(findings.contains("ok server's API: has all that the plugin uses"), findings);
        assertTrue(findings.contains("software: BungeeCord test:1.21"), findings);
        assertFalse(findings.contains("problem"), findings);
        proxy.forwards = false;
        assertTrue(doctor().contains("problem forwarding: game servers see the proxy's address"));
    }

    @Test
    void playersLogInAndComeToALobby() throws Exception {
        connect();
        FakeBungee.FakePlayer player = proxy.new FakePlayer("jeb_");
        assertNull(proxy.login(player));
        String first = proxy.firstServer(player).getName();
        assertTrue(first.startsWith("lobby-"), first);
        ServerKickEvent event = kick(player, first, ServerKickEvent.State.CONNECTED);
        assertTrue(event.isCancelled());
        assertNotEquals(first, event.getCancelServer().getName());
        player.server = proxy.servers.get(first);
        assertFalse(kick(player, first, ServerKickEvent.State.CONNECTING).isCancelled(), "they stay where they are");
        proxy.getPluginManager().callEvent(new PlayerDisconnectEvent(player.api));
    }

    @Test
    void bannedPlayersAreRefusedAndRemoved() throws Exception {
        connect();
        FakeBungee.FakePlayer player = proxy.new FakePlayer("cheater");
        assertNull(proxy.login(player));
        proxy.firstServer(player);
        hub.punish(PunishmentKind.BAN, player.uuid, player.name, "<red>fly");
        eventually("the player is removed", () -> player.disconnected != null);
        assertTrue(player.disconnected.contains("Reason: <red>fly"), player.disconnected);
        assertFalse(kick(player, "lobby-1", ServerKickEvent.State.CONNECTED).isCancelled());
        assertTrue(proxy.login(player).contains("Reason: <red>fly"));
    }

    @Test
    void permissionsAreAnsweredFromMemory() throws Exception {
        connect();
        FakeBungee.FakePlayer player = proxy.new FakePlayer("jeb_");
        hub.client().permissions().add(player.uuid, PermissionNodeInput.builder().node("kit.gold").value(true).build()).join();
        assertNull(proxy.login(player));
        assertTrue(player.hasPermission("kit.gold"));
        assertFalse(player.hasPermission("kit.iron"));
    }

    @Test
    void commandsAreForThoseWhoMayUseThem() throws Exception {
        connect();
        FakeBungee.FakePlayer player = proxy.new FakePlayer("jeb_");
        proxy.login(player);
        proxy.firstServer(player);
        List<String> completions = new ArrayList<>();
        eventually("servers are completed", () -> {
            completions.clear();
            proxy.getPluginManager().dispatchCommand(player.api, "server lobby-", completions);
            return completions.equals(List.of("lobby-1", "lobby-2"));
        });
        proxy.getPluginManager().dispatchCommand(player.api, "server lobby-2");
        eventually("the player is sent there", () -> player.requested != null && player.requested.getName().equals("lobby-2"));
        proxy.getPluginManager().dispatchCommand(player.api, "ban jeb_");
        assertTrue(hub.client().punishments().ofPlayer(player.uuid, true).join().isEmpty());
    }

    @Test
    void listOfServersShowsTheNetwork() throws Exception {
        connect();
        hub.publish(Map.of("motd", "<gold>Hello", "maxPlayers", 500));
        eventually("the message is shown", () -> {
            ServerPing ping = proxy.ping(new ServerPing(new ServerPing.Protocol("1.21", 767), new ServerPing.Players(100, 3, null),
                    new TextComponent("A Bungee"), null));
            return ping.getDescriptionComponent().toPlainText().equals("Hello") && ping.getPlayers().getMax() == 500;
        });
        hub.publish(Map.of());
    }

    @Test
    void consoleCommandsOfTheHubAreAnswered() throws Exception {
        connect();
        String id = doctor().replaceAll("(?s).*registered as (\\S+),.*", "$1");
        var answer = hub.manage("POST", "/api/manage/servers/" + id + "/command", Map.of("command", "hub status"));
        assertTrue(answer.get("output").getAsString().contains("Network Hub"), answer.toString());
    }

    @Test
    void secondEnableWorks() throws Exception {
        connect();
        proxy.close();
        connect();
        assertNull(proxy.login(proxy.new FakePlayer("jeb_")));
    }

    @Test
    void killedHubHangsNobody() throws Exception {
        try (HubProcess own = new HubProcess()) {
            Hub.register(own.client(), Hub.server("lobby-1", "lobby", 30_001));
            start(own.url(), own.key);
            eventually("the lobby is known", () -> proxy.servers.size() == 1);
            FakeBungee.FakePlayer known = proxy.new FakePlayer("jeb_");
            assertNull(proxy.login(known));
            own.kill();
            assertTrue(proxy.login(proxy.new FakePlayer("Notch")).contains("cannot be checked"));
            assertNull(proxy.login(known));
            assertEquals("lobby-1", proxy.firstServer(known).getName());
        }
    }

    @Test
    void silentHubHangsNobody() throws Exception {
        try (TcpProxy link = new TcpProxy(hub.port())) {
            start(link.url(), hub.key());
            link.cut();
            FakeBungee.FakePlayer player = proxy.new FakePlayer("Notch");
            assertTrue(proxy.login(player).contains("cannot be checked"));
            assertTrue(proxy.firstServer(player).getName().startsWith("lobby-"));
            link.heal();
        }
    }
}
