package networkhub.plugin;

import static networkhub.Eventually.eventually;
import static networkhub.Eventually.within;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CommandsTest {
    private static Network network;

    private final UUID player = UUID.randomUUID();
    private final UUID other = UUID.randomUUID();
    private final String name = "p" + player.toString().substring(0, 8);
    private final String otherName = "q" + other.toString().substring(0, 8);
    private final String lobby = "lobby-" + player.toString().substring(0, 8);
    private Network.Server game;
    private Network.Server proxy;

    @BeforeAll
    static void startHub() throws Exception {
        network = new Network();
    }

    @AfterAll
    static void stopHub() throws Exception {
        network.close();
    }

    @BeforeEach
    void join() throws Exception {
        game = network.server(PlatformKind.PAPER, "server-id=" + lobby, "type=lobby");
        proxy = network.server(PlatformKind.VELOCITY);
        for (Network.Server server : List.of(proxy, game)) {
            server.join(player, name);
            server.join(other, otherName);
        }
        eventually("the players are there", () -> network.hub.client().servers().onlinePlayers(null).join().stream()
                .filter(online -> online.serverId().equals(lobby)).count() == 2);
        eventually("the proxy knows the lobby", () -> proxy.platform().servers.stream().anyMatch(server -> server.id().equals(lobby)));
    }

    @AfterEach
    void stopServers() {
        network.stopServers();
    }

    private static Sender console(Network.Server server) {
        return server.plugin().console(text -> { });
    }

    private static void answers(List<String> answers, String part) throws Exception {
        try {
            within(Duration.ofSeconds(10), "the answer has '" + part + "'", () -> answers.stream().anyMatch(line -> line.contains(part)));
        } catch (AssertionError wrong) {
            throw new AssertionError(wrong.getMessage() + ": " + answers, wrong);
        }
    }

    @Test
    void commandsNeedTheirPermission() throws Exception {
        answers(game.run(game.player(player), "ban", otherName), "You may not do that");
        assertEquals(List.of(), game.command("ban").complete(game.player(player), new String[] {""}));
        game.platform().allowed.put(player, Set.of("network-hub.command.ban"));
        assertEquals(List.of(otherName), game.command("ban").complete(game.player(player), new String[] {"Q"}));
    }

    @Test
    void playersAreBannedListedAndUnbanned() throws Exception {
        answers(game.run(console(game), "ban", otherName, "1d12h", "flying", "around"), "ban, 1d12h.</green> Reason: flying around");
        eventually("the proxy removes the player", () -> proxy.platform().kicked.containsKey(other));
        assertFalse(proxy.plugin().preLogin(other, otherName, null).join().isAllowed());
        answers(game.run(console(game), "history", otherName), "flying around");
        answers(game.run(console(game), "unban", otherName), "1 punishments");
        assertTrue(proxy.plugin().preLogin(other, otherName, null).join().isAllowed());
    }

    @Test
    void playersReportOthersToTheStaff() throws Exception {
        answers(game.run(game.player(player), "report", otherName, "insults", "in", "chat"), "The staff will look at " + otherName);
        var report = network.hub.manage("GET", "/api/manage/reports?state=OPEN", null).getAsJsonArray("items").get(0).getAsJsonObject();
        assertEquals(List.of(player.toString(), other.toString(), "insults in chat", lobby), Stream.of("reporterUuid", "playerUuid", "reason", "serverId")
                .map(field -> report.get(field).getAsString()).toList());
        answers(game.run(game.player(player), "report", name, "me"), "cannot report yourself");
        answers(game.run(game.player(player), "report", otherName), "Usage");
    }

    @Test
    void alertsReachAllServersOnce() throws Exception {
        Network.Server elsewhere = network.server(PlatformKind.FOLIA, "type=game");
        game.platform().allowed.put(player, Set.of("network-hub.command.alert"));
        answers(proxy.run(proxy.player(player), "alert", "no"), "You may not do that");
        // The same words again are another alert. It is sent once the first is shown: of two at one moment the latest counts.
        for (int times : List.of(1, 2)) {
            answers(game.run(game.player(player), "alert", "the event begins"), "are told");
            for (Network.Server server : List.of(game, elsewhere)) {
                eventually("it is shown", () -> server.platform().broadcast.stream().filter(line -> line.contains("the event begins")).count() == times);
            }
        }
        assertEquals(List.of(), proxy.platform().broadcast.stream().filter(line -> line.contains("the event begins")).toList());
    }

    @Test
    void namesThatWereNeverSeenCanBeBanned() throws Exception {
        String unseen = "new" + other.toString().substring(0, 8);
        answers(game.run(console(game), "ban", unseen, "known", "elsewhere"), "permanent");
        assertFalse(proxy.plugin().preLogin(UUID.randomUUID(), unseen, null).join().isAllowed());
    }

    @Test
    void durationsThatAreNoneAreRefused() throws Exception {
        for (String wrong : List.of("7days", "0d", "30")) {
            answers(game.run(console(game), "ban", otherName, wrong, "flying"), wrong + " is no duration");
        }
        answers(game.run(console(game), "mute", otherName, "10min"), "10min is no duration");
        answers(game.run(console(game), "history", otherName), "was never punished");
    }

    @Test
    void playersAreMutedWarnedAndKicked() throws Exception {
        answers(game.run(console(game), "mute", otherName, "10m"), "mute, 10m.</green> Reason: none given");
        eventually("the mute holds", () -> game.plugin().takesChat(other, otherName, "hello"));
        answers(game.run(console(game), "unmute", otherName), "1 punishments");
        game.run(console(game), "warn", otherName, "language");
        eventually("the player is warned", () -> game.platform().sent.stream().anyMatch(text -> text.contains("You were warned")));
        game.run(console(game), "kick", otherName, "afk");
        eventually("the player is removed", () -> game.platform().kicked.getOrDefault(other, "").contains("afk"));
    }

    @Test
    void playersAreFoundAndSent() throws Exception {
        String arena = "arena-" + other.toString().substring(0, 8);
        network.server(PlatformKind.PAPER, "server-id=" + arena, "type=arena");
        answers(proxy.run(console(proxy), "find", otherName), lobby);
        answers(proxy.run(console(proxy), "find", "nobody"), "No player named nobody");
        answers(proxy.run(proxy.player(player), "server", arena), "Sending you to");
        eventually("the proxy connects the player", () -> isSentTo(proxy, player, arena));
        answers(game.run(console(game), "send", otherName, arena), "is being sent to");
        eventually("the game server hands the player on", () -> isSentTo(game, other, arena));
        answers(proxy.run(proxy.player(player), "lobby"), "You cannot be sent there");
        answers(proxy.run(proxy.player(player), "server", "nowhere"), "cannot be sent there");
        answers(proxy.run(console(proxy), "lobby"), "Only players");
        eventually("servers are completed",
                () -> proxy.command("server").complete(proxy.player(player), new String[] {"AREN"}).equals(List.of(arena)));
    }

    private static boolean isSentTo(Network.Server server, UUID player, String target) {
        GameAddress sent = server.platform().connected.get(player);
        return sent != null && sent.id().equals(target);
    }

    @Test
    void maintenanceKeepsOutAllButTheListOnAllServers() throws Exception {
        answers(game.run(console(game), "maintenance", "add", name.toUpperCase()), "may join during maintenance");
        answers(game.run(console(game), "maintenance", "on"), "Maintenance is on");
        try {
            eventually("the proxy refuses others", () -> !proxy.plugin().preLogin(other, otherName, null).join().isAllowed());
            assertTrue(proxy.plugin().preLogin(player, name, null).join().isAllowed());
            eventually("the list of servers says so", () -> proxy.plugin().status().text().contains("being worked on"));
            eventually("the list is complete", () -> proxy.command("maintenance").complete(console(proxy), new String[] {"remove", ""})
                    .equals(List.of(name)));
        } finally {
            answers(game.run(console(game), "maintenance", "off"), "Maintenance is off");
        }
        eventually("all may join again", () -> proxy.plugin().preLogin(other, otherName, null).join().isAllowed());
    }

    @Test
    void playersPayEachOther() throws Exception {
        network.hub.manage("PUT", "/api/manage/economy/currencies/coins", Map.of());
        network.hub.client().economy().modify("player", player.toString(), "coins", new BigDecimal(10), "test").join();
        answers(game.run(game.player(player), "pay", otherName, "2.5"), "You paid 2.5 coins");
        eventually("the other one is told", () -> game.platform().sent.stream().anyMatch(text -> text.contains("paid you 2.5")));
        answers(game.run(game.player(player), "balance"), "7.5 coins");
        answers(game.run(game.player(player), "pay", otherName, "100"), "do not have that much");
        answers(game.run(game.player(player), "pay", otherName, "-1"), "number above zero");
        answers(game.run(game.player(player), "pay", name, "1"), "cannot pay yourself");
        answers(game.run(game.player(player), "balance", otherName), "You may not do that");
        answers(game.run(console(game), "balance", otherName), "2.5 coins");
        answers(game.run(game.player(player), "pay"), "Usage:</gray> /pay PLAYER AMOUNT");
    }

    @Test
    void statusShowsTheNetworksMessageAndCounts() throws Exception {
        var document = Settings.defaults();
        document.addProperty("motd", "<gold>Hello");
        document.addProperty("maxPlayers", 500);
        network.hub.client().config().publish(Settings.GROUP, Settings.NAMESPACE, document).join();
        eventually("the message is shown", () -> "<gold>Hello".equals(proxy.plugin().status().text()));
        assertEquals(500, proxy.plugin().status().maxPlayers());
        assertTrue(proxy.plugin().status().players() >= 2);
    }

    @Test
    void statusAndDoctorAnswerTheConsole() throws Exception {
        answers(proxy.run(console(proxy), "hub"), "Connected; ");
        answers(proxy.run(console(proxy), "hub", "doctor"), "registered as ");
        answers(proxy.run(console(proxy), "hub", "dance"), "Usage:</gray> /hub status|doctor");
    }
}
