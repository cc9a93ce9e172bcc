package networkhub.connector;

import static networkhub.Eventually.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import networkhub.HubClient;
import networkhub.HubProcess;
import networkhub.Requests;
import networkhub.TcpProxy;
import networkhub.model.ChatMessage;
import networkhub.model.ChatMessageInput;
import networkhub.model.LivePlayerProfile;
import networkhub.model.PlayerConnection;
import networkhub.model.PunishmentKind;
import networkhub.model.TransferOutcome;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The connector while its hub is away. */
class OutageTest {
    private HubProcess hub;
    private HubClient owner;
    private TcpProxy link;
    private final List<HubConnector> connectors = new ArrayList<>();
    private final FakeGame game = new FakeGame();
    private final FakeGame otherGame = new FakeGame();
    private final UUID stays = UUID.randomUUID();
    private final UUID leaves = UUID.randomUUID();
    private final UUID joins = UUID.randomUUID();
    private final UUID visits = UUID.randomUUID();

    @BeforeEach
    void startHub() throws Exception {
        hub = new HubProcess();
        owner = hub.client();
        link = new TcpProxy(hub.port);
    }

    @AfterEach
    void stop() throws Exception {
        link.heal();
        for (HubConnector connector : connectors) connector.stop().get(60, TimeUnit.SECONDS);
        game.close();
        otherGame.close();
        link.close();
        hub.close();
    }

    private HubConnector start(String url, String server, FakeGame game) throws Exception {
        HubConnector connector = HubConnector.builder(
                HubClient.create(url, hub.key), Requests.server(server, "games").build(), game)
                .joinTimeout(Duration.ofSeconds(10)).connector();
        connectors.add(connector);
        connector.start();
        eventually("the connector is connected", () -> connector.status().isConnected());
        return connector;
    }

    private void join(HubConnector connector, UUID player, String name) throws Exception {
        assertTrue(connector.checkJoin(player, name, null).join().allowed());
        connector.playerJoined(player, name);
        eventually("the player is online", () -> where(player) != null);
    }

    /** The server a player is on; null for none. */
    private String where(UUID player) {
        PlayerConnection connection =
                owner.players().get(player, null).join().map(LivePlayerProfile::connection).orElse(null);
        return connection == null ? null : connection.serverId();
    }

    private List<String> chat() {
        return game.chat.stream().map(ChatMessage::message).toList();
    }

    @Test
    void nothingIsLostWhenTheHubIsKilled() throws Exception {
        HubConnector connector = start(hub.url(), "a", game);
        start(hub.url(), "b", otherGame);
        UUID banned = UUID.randomUUID();
        UUID clean = UUID.randomUUID();
        join(connector, stays, "Stays");
        join(connector, leaves, "Leaves");
        owner.punishments().punish(Requests.punishment(PunishmentKind.BAN, banned, "Banned", "cheating")).join();
        owner.punishments().punish(Requests.punishment(PunishmentKind.MUTE, leaves, "Leaves", "spam")).join();
        eventually("the ban and the mute are known",
                () -> connector.punishments().all().size() == 2 && connector.punishments().isMuted(leaves));
        assertTrue(connector.checkJoin(clean, "Clean", "203.0.113.1").join().allowed());

        hub.kill();
        connector.playerLeft(leaves);
        eventually("the outage is noticed", () -> !connector.status().registered() && !connector.status().streamOpen());
        connector.playerJoined(joins, "Joins");
        connector.playerJoined(visits, "Visits");
        connector.playerLeft(visits);
        CompletableFuture<TransferOutcome> transfer = connector.transfer(stays, "b", null);
        // Bans and mutes fail closed: what is known stays, and of whom nothing is known stays out.
        assertEquals(JoinDecision.Reason.BANNED, connector.checkJoin(banned, "Banned", null).join().reason());
        assertEquals(JoinDecision.Reason.NOT_VERIFIED, connector.checkJoin(UUID.randomUUID(), "New", null).join().reason());
        assertTrue(connector.checkJoin(clean, "Clean", "203.0.113.1").join().allowed());
        assertEquals(JoinDecision.Reason.NOT_VERIFIED, connector.checkJoin(clean, "Clean", "203.0.113.2").join().reason());
        assertTrue(connector.punishments().isMuted(leaves));
        assertTrue(connector.punishments().isMuted(joins));
        assertFalse(connector.punishments().isMuted(stays));
        eventually("all changes wait", () -> connector.status().pendingChanges() == 4);

        hub.start();
        eventually("the join was told", () -> "a".equals(where(joins)));
        eventually("the leave was told", () -> where(leaves) == null);
        eventually("the visit was told", () -> owner.players().get(visits, null).join().isPresent());
        eventually("nobody is left behind", () -> where(visits) == null && connector.status().pendingChanges() == 0);
        assertTrue(transfer.get(60, TimeUnit.SECONDS).success());
        eventually("the transfer is carried out", () -> game.transfers.size() == 1);
        assertEquals(stays, game.transfers.get(0).playerUuid());
        eventually("the stream is open again", () -> connector.status().isConnected());
        // Players that were admitted unchecked are checked now.
        eventually("the player is known not to be muted", () -> !connector.punishments().isMuted(joins));
        owner.punishments().punish(Requests.punishment(PunishmentKind.BAN, joins, "Joins", "late")).join();
        eventually("events come again", () -> game.kicked.contains(joins));
    }

    @Test
    void changesDuringABrokenStreamAreAppliedLater() throws Exception {
        HubConnector connector = start(hub.url(), "a", game);
        join(connector, stays, "Stays");
        hub.kill();
        hub.start();
        // Before the connector is back: its events belong to a hub that is no more, so it gets RESYNC.
        owner.punishments().punish(Requests.punishment(PunishmentKind.BAN, stays, "Stays", "late")).join();
        eventually("the ban is carried out", () -> game.kicked.contains(stays));
    }

    @Test
    void aStreamResumesWhereItEnded() throws Exception {
        HubConnector connector = start(link.url(), "a", game);
        List<String> resyncs = new ArrayList<>();
        connector.on("RESYNC", event -> resyncs.add("resync"));
        owner.chat().send(line("before")).join();
        eventually("the stream works", () -> chat().equals(List.of("before")));
        link.cut();
        link.dropConnections();
        for (int i = 0; i < 20; i++) owner.chat().send(line("line " + i)).join();
        eventually("the connector notices", () -> !connector.status().streamOpen());
        link.heal();
        eventually("everything came", () -> game.chat.size() == 21);
        owner.chat().send(line("after")).join();
        eventually("and what follows", () -> game.chat.size() == 22);
        List<String> expected = new ArrayList<>(List.of("before"));
        IntStream.range(0, 20).forEach(i -> expected.add("line " + i));
        expected.add("after");
        assertEquals(expected, chat());
        assertEquals(List.of(), resyncs);
    }

    private static ChatMessageInput line(String text) {
        return ChatMessageInput.builder()
                .playerUuid(new UUID(0, 1))
                .playerName("Owner")
                .message(text)
                .serverId("console")
                .build();
    }

    @Test
    void nothingIsLostInAPartition() throws Exception {
        HubConnector connector = start(link.url(), "a", game);
        HubConnector other = start(hub.url(), "b", otherGame);
        join(connector, stays, "Stays");
        join(connector, leaves, "Leaves");

        link.cut();
        long cutAt = System.nanoTime();
        connector.playerLeft(leaves);
        connector.playerJoined(joins, "Joins");
        connector.playerJoined(visits, "Visits");
        connector.playerLeft(visits);
        connector.setState(new networkhub.ServerState("PLAYING", null, null));
        CompletableFuture<TransferOutcome> asked = connector.transfer(leaves, "b", null);
        assertTrue(System.nanoTime() - cutAt < Duration.ofSeconds(10).toNanos(), "no call waits for the hub");
        // The visitor goes to a server that the hub still hears.
        other.playerJoined(visits, "Visits");
        eventually("the visitor is there", () -> "b".equals(where(visits)));
        assertEquals(JoinDecision.Reason.NOT_VERIFIED, connector.checkJoin(UUID.randomUUID(), "New", null).join().reason());
        while (System.nanoTime() - cutAt < Duration.ofSeconds(15).toNanos()) Thread.sleep(100);
        // Its command is on its way while nothing gets through.
        TransferOutcome sent = other.transfer(stays, "b", null).join();
        assertTrue(sent.success(), sent.result());
        eventually("the hub has given the server up", () ->
                owner.servers().list("games", true, null, 0, 10).join().total() == 1);
        while (System.nanoTime() - cutAt < Duration.ofSeconds(30).toNanos()) Thread.sleep(100);
        assertEquals(0, game.transfers.size());

        link.heal();
        eventually("the join was told", () -> "a".equals(where(joins)));
        eventually("who stayed is back", () -> "a".equals(where(stays)));
        eventually("everything was told", () -> connector.status().pendingChanges() == 0 && connector.status().isConnected());
        eventually("the transfer is carried out", () -> game.transfers.size() == 1);
        assertEquals(sent.transferId(), game.transfers.get(0).transferId());
        // Late packets of the partition and the heartbeats after it change nothing any more.
        for (long end = System.nanoTime() + Duration.ofSeconds(7).toNanos(); System.nanoTime() - end < 0; Thread.sleep(200)) {
            assertEquals("b", where(visits));
        }
        assertEquals(null, where(leaves));
        assertEquals("a", where(joins));
        assertEquals("PLAYING", owner.servers().list("games", true, "a", 0, 1).join().items().get(0).live().gameState());
        assertTrue(asked.isDone());
        connector.playerLeft(stays);
        other.playerJoined(stays, "Stays");
        eventually("the player has moved", () -> "b".equals(where(stays)));
        eventually("the transfer has ended", () -> "SUCCESS".equals(
                hub.manage("GET", "/api/manage/transfers/" + sent.transferId(), null).get("result").getAsString()));
        assertEquals(1, game.transfers.size());
    }
}
