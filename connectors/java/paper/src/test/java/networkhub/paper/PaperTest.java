package networkhub.paper;

import static networkhub.Eventually.eventually;
import static networkhub.paper.FakePaper.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.papermc.paper.event.player.AsyncChatEvent;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import net.kyori.adventure.text.Component;
import networkhub.HubProcess;
import networkhub.TcpProxy;
import networkhub.model.PermissionNodeInput;
import networkhub.model.PunishmentKind;
import networkhub.testing.Fake;
import networkhub.testing.PlatformTest;
import org.bukkit.command.CommandSender;
import org.bukkit.event.player.PlayerCommandPreprocessEvent;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The jar, as it is shipped, with a real hub; once on Paper and once on Folia, where that differs. */
class PaperTest extends PlatformTest {
    private FakePaper server;
    private String id;

    @BeforeAll
    void registerServers() {
        hub.register("arena-1", "arena", 30_001);
    }

    @AfterEach
    void stopServer() {
        server.close();
        assertEquals(List.of(), server.wrongThreads);
        assertEquals(2, server.permissions.size(), "the generated permissions are removed: " + server.permissions.keySet());
    }

    private void start(boolean isFolia, boolean isProxied, String url, String key) throws Exception {
        id = "paper-" + UUID.randomUUID();
        server = new FakePaper(isFolia, isProxied, "url=" + url, "key=" + key, "server-id=" + id, "type=lobby");
        eventually("the plugin is connected", () -> doctor().contains("registered as"));
    }

    private void connect(boolean isFolia) throws Exception {
        start(isFolia, true, hub.url(), hub.key());
    }

    @Override
    protected List<String> run(String command, String... arguments) {
        List<String> answers = new CopyOnWriteArrayList<>();
        CommandSender console = Fake.of(CommandSender.class, new Object() {
            void sendMessage(Component line) {
                answers.add(text(line));
            }
        });
        server.commands.get(command).execute(console, command, arguments);
        return answers;
    }

    private String place(UUID player) {
        return hub.client().players().get(player, null).join()
                .map(profile -> profile.connection() == null ? "none" : profile.connection().serverId()).orElse("unknown");
    }

    @Test
    void selfTestFindsAllMembersAndNoProblem() throws Exception {
        connect(true);
        String findings = doctor();
        assertTrue(findings.contains("ok server's API: has all that the plugin uses"), findings);
        assertTrue(findings.contains("software: Folia 1.21.8"), findings);
        assertTrue(findings.contains("forwarding: players come through a proxy"), findings);
        assertFalse(findings.contains("problem"), findings);
    }

    @Test
    void offlineModeWithoutForwardingIsNoted() throws Exception {
        start(false, false, hub.url(), hub.key());
        assertTrue(doctor().contains("note forwarding: offline mode without a proxy"), doctor());
    }

    @Test
    void playersAreReportedAndSentOnThroughTheProxy() throws Exception {
        for (boolean isFolia : new boolean[] {false, true}) {
            connect(isFolia);
            FakePaper.FakePlayer player = server.new FakePlayer("jeb_");
            assertNull(server.join(player));
            eventually("the player is there", () -> place(player.uuid).equals(id));
            server.quit(player);
            eventually("the player has left", () -> place(player.uuid).equals("none"));
            server.join(player);
            eventually("the player is back", () -> place(player.uuid).equals(id));
            hub.client().transfers().transfer(player.uuid, "arena-1", null).join();
            eventually("the proxy is told", () -> "BungeeCord Connect arena-1".equals(player.sentTo));
            if (!isFolia) stopServer();
        }
    }

    @Test
    void bannedPlayersAreRefusedAndRemoved() throws Exception {
        for (boolean isFolia : new boolean[] {false, true}) {
            connect(isFolia);
            FakePaper.FakePlayer player = server.new FakePlayer("cheater");
            assertNull(server.join(player));
            hub.punish(PunishmentKind.BAN, player.uuid, player.name, "fly");
            eventually("the player is removed", () -> player.kicked != null);
            assertTrue(player.kicked.contains("Reason: fly"), player.kicked);
            server.quit(player);
            assertTrue(server.join(player).contains("Reason: fly"));
            if (!isFolia) stopServer();
        }
    }

    @Test
    void permissionsAreAttachedAndChangeWhilePlaying() throws Exception {
        for (boolean isFolia : new boolean[] {false, true}) {
            connect(isFolia);
            FakePaper.FakePlayer player = server.new FakePlayer("jeb_");
            add(player.uuid, "kit.gold", true);
            assertNull(server.join(player));
            assertTrue(player.hasPermission("kit.gold"));
            assertFalse(player.hasPermission("kit.iron"));
            int updates = player.updates;
            add(player.uuid, "kit.*", true);
            eventually("wildcards cover what is registered", () -> player.hasPermission("kit.iron") && player.updates > updates);
            add(player.uuid, "kit.iron", false);
            eventually("the exact node wins", () -> !player.hasPermission("kit.iron") && player.hasPermission("kit.gold"));
            server.quit(player);
            assertFalse(player.hasPermission("kit.gold"));
            if (!isFolia) stopServer();
        }
    }

    private void add(UUID player, String node, boolean value) {
        hub.client().permissions().add(player, PermissionNodeInput.builder().node(node).value(value).build()).join();
    }

    @Test
    void chatGoesThroughTheHubAndMutedPlayersAreSilent() throws Exception {
        connect(false);
        FakePaper.FakePlayer player = server.new FakePlayer("jeb_");
        server.join(player);
        AsyncChatEvent line = new AsyncChatEvent(player.api, Component.text("hello"));
        server.fire(line);
        assertTrue(line.isCancelled());
        eventually("the line comes back", () -> server.broadcasts.contains("jeb_: hello"));
        assertFalse(command(player, "/msg Notch hello").isCancelled());
        hub.punish(PunishmentKind.MUTE, player.uuid, player.name, "spam");
        eventually("the player is told", () -> player.texts.stream().anyMatch(text -> text.startsWith("You were muted: spam")));
        AsyncChatEvent muted = new AsyncChatEvent(player.api, Component.text("again"));
        server.fire(muted);
        assertTrue(muted.isCancelled());
        assertTrue(command(player, "/minecraft:MSG Notch hello").isCancelled());
        assertFalse(command(player, "/spawn").isCancelled());
        assertEquals(1, server.broadcasts.size());
    }

    private PlayerCommandPreprocessEvent command(FakePaper.FakePlayer player, String message) throws Exception {
        PlayerCommandPreprocessEvent event = new PlayerCommandPreprocessEvent(player.api, message);
        server.fire(event);
        return event;
    }

    @Test
    void commandsAreForThoseWhoMayUseThem() throws Exception {
        connect(false);
        FakePaper.FakePlayer player = server.new FakePlayer("jeb_");
        server.join(player);
        assertFalse(server.commands.get("ban").testPermissionSilent(player.api));
        assertEquals(List.of(), server.commands.get("ban").tabComplete(player.api, "ban", new String[] {""}));
        add(player.uuid, "network-hub.command.ban", true);
        eventually("the permission is there", () -> server.commands.get("ban").testPermissionSilent(player.api));
        assertEquals(List.of("jeb_"), server.commands.get("ban").tabComplete(player.api, "ban", new String[] {"J"}));
    }

    @Test
    void consoleCommandsOfTheHubAreAnswered() throws Exception {
        connect(true);
        var answer = hub.manage("POST", "/api/manage/servers/" + id + "/command", Map.of("command", "list"));
        assertEquals("ran list", answer.get("output").getAsString());
    }

    @Test
    void secondEnableTakesOverThePlayers() throws Exception {
        connect(false);
        FakePaper.FakePlayer player = server.new FakePlayer("jeb_");
        add(player.uuid, "kit.gold", true);
        server.join(player);
        server.enableAgain();
        eventually("the player is there", () -> place(player.uuid).equals(id));
        eventually("the permissions are there", () -> player.hasPermission("kit.gold"));
    }

    @Test
    void killedHubHangsNobodyAndChatGoesOn() throws Exception {
        try (HubProcess own = new HubProcess()) {
            start(false, true, own.url(), own.key);
            FakePaper.FakePlayer known = server.new FakePlayer("jeb_");
            assertNull(server.join(known));
            own.kill();
            assertTrue(server.join(server.new FakePlayer("Notch")).contains("cannot be checked"));
            eventually("the server shows chat itself", () -> {
                AsyncChatEvent line = new AsyncChatEvent(known.api, Component.text("hello"));
                server.fire(line);
                return !line.isCancelled();
            });
            server.quit(known);
            assertNull(server.join(known));
        }
    }

    @Test
    void silentHubDelaysALoginBySecondsOnly() throws Exception {
        try (TcpProxy link = new TcpProxy(hub.port())) {
            start(false, true, link.url(), hub.key());
            link.cut();
            long began = System.nanoTime();
            assertTrue(server.join(server.new FakePlayer("Notch")).contains("cannot be checked"));
            assertTrue(System.nanoTime() - began < 25_000_000_000L, "a client waits for 30 s");
            link.heal();
        }
    }
}
