package networkhub.velocity;

import static networkhub.Eventually.eventually;
import static networkhub.velocity.FakeVelocity.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.velocitypowered.api.command.CommandSource;
import com.velocitypowered.api.command.SimpleCommand;
import com.velocitypowered.api.event.connection.DisconnectEvent;
import com.velocitypowered.api.event.connection.DisconnectEvent.LoginStatus;
import com.velocitypowered.api.event.connection.LoginEvent;
import com.velocitypowered.api.event.connection.PostLoginEvent;
import com.velocitypowered.api.event.permission.PermissionsSetupEvent;
import com.velocitypowered.api.event.player.KickedFromServerEvent;
import com.velocitypowered.api.event.player.KickedFromServerEvent.DisconnectPlayer;
import com.velocitypowered.api.event.player.KickedFromServerEvent.RedirectPlayer;
import com.velocitypowered.api.event.player.PlayerChooseInitialServerEvent;
import com.velocitypowered.api.event.proxy.ProxyPingEvent;
import com.velocitypowered.api.permission.Tristate;
import com.velocitypowered.api.proxy.server.ServerPing;
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
import networkhub.testing.Hub;
import networkhub.testing.PlatformTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The jar, as it is shipped, with a real hub. */
class VelocityTest extends PlatformTest {
    private FakeVelocity proxy;

    @BeforeAll
    void registerServers() {
        hub.register("lobby-1", "lobby", 30_001);
        hub.register("lobby-2", "lobby", 30_002);
    }

    @AfterEach
    void stopProxy() throws Exception {
        assertEquals(proxy.tasks.get(), proxy.resumed.get(), "every continuation is resumed once");
        proxy.close();
    }

    private void start(String url) throws Exception {
        proxy = new FakeVelocity("url=" + url, "key=" + hub.key(), "server-id=proxy-" + UUID.randomUUID());
    }

    private void connect() throws Exception {
        start(hub.url());
        eventually("the hub's servers are the proxy's", () -> proxy.servers.size() == 2);
        eventually("the plugin is connected", () -> doctor().contains("registered as"));
    }

    @Override
    protected List<String> run(String command, String... arguments) {
        List<String> answers = new CopyOnWriteArrayList<>();
        CommandSource console = Fake.of(CommandSource.class, new Object() {
            void sendMessage(Component line) {
                answers.add(text(line));
            }
        });
        invoke(console, command, arguments);
        return answers;
    }

    private void invoke(CommandSource source, String command, String... arguments) {
        ((SimpleCommand) proxy.commands.get(command)).execute(invocation(source, arguments));
    }

    private static SimpleCommand.Invocation invocation(CommandSource source, String... arguments) {
        return new SimpleCommand.Invocation() {
            @Override
            public CommandSource source() {
                return source;
            }

            @Override
            public String[] arguments() {
                return arguments;
            }
        };
    }

    /** Lets a player log in, as Velocity does; returns the reason why they may not. */
    private String login(FakeVelocity.FakePlayer player) throws Exception {
        PermissionsSetupEvent permissions = new PermissionsSetupEvent(player.api, subject -> node -> Tristate.UNDEFINED);
        proxy.fire(permissions);
        player.permissions = permissions.getProvider().createFunction(player.api);
        LoginEvent login = new LoginEvent(player.api);
        proxy.fire(login);
        if (!login.getResult().isAllowed()) return text(login.getResult().getReasonComponent().orElseThrow());
        proxy.players.put(player.uuid, player);
        proxy.fire(new PostLoginEvent(player.api));
        return null;
    }

    private PlayerChooseInitialServerEvent chooseServer(FakeVelocity.FakePlayer player) throws Exception {
        PlayerChooseInitialServerEvent event = new PlayerChooseInitialServerEvent(player.api, null);
        proxy.fire(event);
        return event;
    }

    private KickedFromServerEvent kick(FakeVelocity.FakePlayer player, String server) throws Exception {
        KickedFromServerEvent event = new KickedFromServerEvent(player.api, proxy.servers.get(server), player.server == null,
                DisconnectPlayer.create(Component.text("closed")));
        proxy.fire(event);
        return event;
    }

    @Test
    void selfTestFindsAllMembersAndNoProblem() throws Exception {
        connect();
        String findings = doctor();
        assertTrue(findings.contains("ok server's API: has all that the plugin uses"), findings);
        assertTrue(findings.contains("software: Velocity 3.4.0"), findings);
        assertFalse(findings.contains("problem"), findings);
    }

    @Test
    void playersLogInAndComeToALobby() throws Exception {
        connect();
        FakeVelocity.FakePlayer player = proxy.player("jeb_");
        assertNull(login(player));
        String first = chooseServer(player).getInitialServer().orElseThrow().getServerInfo().getName();
        assertTrue(first.startsWith("lobby-"), first);
        player.server = proxy.servers.get(first);
        RedirectPlayer redirect = (RedirectPlayer) kick(player, first).getResult();
        assertFalse(redirect.getServer().getServerInfo().getName().equals(first));
        proxy.fire(new DisconnectEvent(player.api, LoginStatus.SUCCESSFUL_LOGIN));
    }

    @Test
    void refusedSwitchLeavesThePlayerWhereTheyAre() throws Exception {
        connect();
        FakeVelocity.FakePlayer player = proxy.player("jeb_");
        login(player);
        player.server = proxy.servers.get("lobby-1");
        KickedFromServerEvent event = new KickedFromServerEvent(player.api, proxy.servers.get("lobby-2"), true,
                DisconnectPlayer.create(Component.text("full")));
        proxy.fire(event);
        assertEquals("full", text(((DisconnectPlayer) event.getResult()).getReasonComponent()));
    }

    @Test
    void bannedPlayersAreRefusedAndRemoved() throws Exception {
        connect();
        FakeVelocity.FakePlayer player = proxy.player("cheater");
        assertNull(login(player));
        hub.punish(PunishmentKind.BAN, player.uuid, player.name, "fly");
        eventually("the player is removed", () -> player.disconnected != null);
        assertTrue(player.disconnected.contains("Reason: fly"), player.disconnected);
        player.server = proxy.servers.get("lobby-1");
        assertTrue(text(((DisconnectPlayer) kick(player, "lobby-1").getResult()).getReasonComponent()).contains("You are banned"));
        assertTrue(login(player).contains("Reason: fly"));
    }

    @Test
    void permissionsAreAnsweredFromMemory() throws Exception {
        connect();
        FakeVelocity.FakePlayer player = proxy.player("jeb_");
        hub.client().permissions().add(player.uuid, PermissionNodeInput.builder().node("kit.gold").value(true).build()).join();
        hub.client().permissions().add(player.uuid, PermissionNodeInput.builder().node("kit.iron").value(false).build()).join();
        assertNull(login(player));
        assertEquals(Tristate.TRUE, player.getPermissionValue("kit.gold"));
        assertEquals(Tristate.FALSE, player.getPermissionValue("kit.iron"));
        assertEquals(Tristate.UNDEFINED, player.getPermissionValue("kit.wood"));
    }

    @Test
    void commandsAreForThoseWhoMayUseThem() throws Exception {
        connect();
        FakeVelocity.FakePlayer player = proxy.player("jeb_");
        login(player);
        assertFalse(((SimpleCommand) proxy.commands.get("ban")).hasPermission(invocation(player.api, "x")));
        assertTrue(((SimpleCommand) proxy.commands.get("server")).hasPermission(invocation(player.api)));
        eventually("servers are completed", () -> ((SimpleCommand) proxy.commands.get("server"))
                .suggest(invocation(player.api, "lobby-")).equals(List.of("lobby-1", "lobby-2")));
        invoke(player.api, "server", "lobby-2");
        eventually("the player is sent there",
                () -> player.requested != null && player.requested.getServerInfo().getName().equals("lobby-2"));
    }

    @Test
    void serversOfTheProxysOwnConfigStay() throws Exception {
        start(hub.url());
        proxy.addServer("lobby-3", "192.0.2.1", 25_565);
        eventually("the hub's servers are there", () -> proxy.servers.size() == 3);
        hub.register("lobby-3", "lobby", 30_003);
        hub.register("arena-1", "arena", 30_004);
        eventually("a new server is there", () -> proxy.servers.containsKey("arena-1"));
        assertEquals(25_565, proxy.servers.get("lobby-3").getServerInfo().getAddress().getPort());
        hub.register("arena-1", "arena", 30_005);
        eventually("its address is the new one", () -> proxy.servers.get("arena-1") != null
                && proxy.servers.get("arena-1").getServerInfo().getAddress().getPort() == 30_005);
        hub.unregister("arena-1");
        hub.unregister("lobby-3");
        eventually("it is gone", () -> !proxy.servers.containsKey("arena-1"));
        assertTrue(proxy.servers.containsKey("lobby-3"));
    }

    @Test
    void listOfServersShowsTheNetwork() throws Exception {
        connect();
        hub.publish(Map.of("motd", "<gold>Hello", "maxPlayers", 500));
        ServerPing own = ServerPing.builder().description(Component.text("A Velocity")).onlinePlayers(3).maximumPlayers(100).build();
        eventually("the message is shown", () -> {
            ProxyPingEvent event = new ProxyPingEvent(own);
            proxy.fire(event);
            return text(event.getPing().getDescriptionComponent()).equals("Hello") && event.getPing().asBuilder().getMaximumPlayers() == 500;
        });
        hub.publish(Map.of());
    }

    @Test
    void consoleCommandsOfTheHubAreAnswered() throws Exception {
        connect();
        String id = doctor().replaceAll("(?s).*registered as (\\S+),.*", "$1");
        var answer = hub.manage("POST", "/api/manage/servers/" + id + "/command", Map.of("command", "velocity info"));
        assertEquals("ran velocity info", answer.get("output").getAsString());
    }

    @Test
    void killedHubHangsNobody() throws Exception {
        try (HubProcess own = new HubProcess()) {
            Hub.register(own.client(), Hub.server("lobby-1", "lobby", 30_001));
            proxy = new FakeVelocity("url=" + own.url(), "key=" + own.key, "server-id=proxy");
            eventually("the lobby is known", () -> proxy.servers.size() == 1);
            eventually("the plugin is connected", () -> doctor().contains("registered as"));
            FakeVelocity.FakePlayer known = proxy.player("jeb_");
            assertNull(login(known));
            own.kill();
            assertTrue(login(proxy.player("Notch")).contains("cannot be checked"));
            assertNull(login(known));
            assertEquals("lobby-1", chooseServer(known).getInitialServer().orElseThrow().getServerInfo().getName());
            assertTrue(kick(known, "lobby-1").getResult() instanceof DisconnectPlayer);
        }
    }

    @Test
    void silentHubHangsNobody() throws Exception {
        try (TcpProxy link = new TcpProxy(hub.port())) {
            start(link.url());
            eventually("the plugin is connected", () -> doctor().contains("registered as"));
            link.cut();
            FakeVelocity.FakePlayer player = proxy.player("Notch");
            assertTrue(login(player).contains("cannot be checked"));
            assertTrue(chooseServer(player).getInitialServer().isPresent());
            link.heal();
        }
    }
}
