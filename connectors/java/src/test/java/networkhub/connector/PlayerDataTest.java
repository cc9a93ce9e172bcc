package networkhub.connector;

import static networkhub.Eventually.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import networkhub.HubClient;
import networkhub.HubException;
import networkhub.HubProcess;
import networkhub.Requests;
import networkhub.TcpProxy;
import networkhub.model.PlayerSession;
import networkhub.model.PlayerSessionRequest;
import networkhub.model.PlayerSessionSave;
import networkhub.model.PlayerSessionState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What players carry from server to server, while everything fails. */
class PlayerDataTest {
    private HubProcess hub;
    private HubClient owner;
    private TcpProxy link;
    private final List<HubConnector> connectors = new ArrayList<>();
    private final FakeGame game = new FakeGame();
    private final Bags bagsA = new Bags();
    private final Bags bagsB = new Bags();
    private final UUID player = UUID.randomUUID();

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
        link.close();
        hub.close();
    }

    private HubConnector start(String url, String server, PlayerDataHandler handler, Duration autosave) throws Exception {
        HubConnector connector = HubConnector.builder(HubClient.create(url, hub.key), Requests.server(server, "games").build(), game)
                .playerData(handler, Bags.NAMESPACE).autosave(autosave).connector();
        connectors.add(connector);
        connector.start();
        eventually("the connector is connected", () -> connector.status().isConnected());
        return connector;
    }

    private HubConnector start(String server, PlayerDataHandler handler) throws Exception {
        return start(hub.url(), server, handler, Duration.ZERO);
    }

    private void join(HubConnector connector) throws Exception {
        connector.playerJoined(player, "Ann");
        eventually("the data is open", () -> connector.playerData().isOpen(player));
    }

    private PlayerSession session() {
        return owner.players().session(player).join().orElseThrow();
    }

    private List<String> stored() {
        return Bags.items(owner.players().getData(player, "global", Bags.NAMESPACE).join().orElseThrow().data());
    }

    @Test
    void itemsGoAlong() throws Exception {
        HubConnector a = start("a", bagsA);
        HubConnector b = start("b", bagsB);
        join(a);
        assertEquals(List.of(), bagsA.of(player));
        assertEquals(session().fence(), a.playerData().fence(player).orElseThrow());
        bagsA.of(player).add("sword");
        a.playerLeft(player);
        assertFalse(a.playerData().isOpen(player));
        join(b);
        assertEquals(List.of("sword"), bagsB.of(player));
        b.playerLeft(player);
        eventually("the session is closed", () -> session().state() == PlayerSessionState.CLOSED);
        // Back at once, twice: the visit before is saved first.
        a.playerJoined(player, "Ann");
        a.playerLeft(player);
        join(a);
        assertEquals(List.of("sword"), bagsA.of(player));
        assertEquals(List.of(), bagsA.ends);
    }

    @Test
    void aServerGivesThePlayerBackWhenAsked() throws Exception {
        HubConnector a = start("a", bagsA);
        HubConnector b = start("b", bagsB);
        join(a);
        bagsA.of(player).add("sword");
        // Before the first server has noticed that the player left.
        join(b);
        assertEquals(List.of("sword"), bagsB.of(player));
        assertFalse(a.playerData().isOpen(player));
        assertEquals(List.of(player + " REQUESTED"), bagsA.ends);
        assertThrows(IllegalStateException.class, () -> a.playerData().put(player, "x", "1"));
        bagsA.of(player).add("copy");
        a.playerLeft(player);
        bagsB.of(player).add("shield");
        b.playerData().save(player).get(60, TimeUnit.SECONDS);
        assertEquals(List.of("sword", "shield"), stored());
        assertEquals("b", session().serverId());
    }

    @Test
    void aPlayerWhoStaysAfterAllGoesOn() throws Exception {
        HubConnector a = start("a", bagsA);
        start("b", bagsB);
        join(a);
        bagsA.of(player).add("sword");
        // The other server asks for the player, who then does not come.
        PlayerSessionRequest asked = PlayerSessionRequest.builder().serverId("b").waitMs(10_000L).build();
        long fence = owner.players().openSession(player, asked).join().fence();
        eventually("the plugin is told", () -> bagsA.ends.equals(List.of(player + " REQUESTED")));
        assertFalse(a.playerData().isOpen(player));
        owner.players().saveSession(player, fence, PlayerSessionSave.builder().number(1L).close(true).build()).join();
        eventually("the data is open again", () -> a.playerData().isOpen(player));
        assertEquals(List.of("sword"), bagsA.of(player));
        bagsA.of(player).add("shield");
        a.playerData().save(player).get(60, TimeUnit.SECONDS);
        assertEquals(List.of("sword", "shield"), stored());
    }

    @Test
    void aLateSaveIsRefused() throws Exception {
        HubConnector a = start(link.url(), "a", bagsA, Duration.ZERO);
        HubConnector b = start("b", bagsB);
        join(a);
        bagsA.of(player).add("sword");
        a.playerData().save(player).get(60, TimeUnit.SECONDS);
        link.cut();
        bagsA.of(player).add("late");
        CompletableFuture<Void> late = a.playerData().save(player);
        a.playerLeft(player);
        join(b);
        assertEquals(List.of("sword"), bagsB.of(player));
        // The sword is used up where the player is now; the late save still has it.
        bagsB.of(player).remove("sword");
        bagsB.of(player).add("shield");
        b.playerData().save(player).get(60, TimeUnit.SECONDS);
        link.heal();
        ExecutionException failed = assertThrows(ExecutionException.class, () -> late.get(60, TimeUnit.SECONDS));
        assertTrue(HubException.of(failed).is("stale_session"));
        assertEquals(List.of("shield"), stored());
        b.playerLeft(player);
        join(a);
        assertEquals(List.of("shield"), bagsA.of(player));
    }

    @Test
    void aSaveOutlivesTheHub() throws Exception {
        HubConnector a = start("a", bagsA);
        HubConnector b = start("b", bagsB);
        join(a);
        bagsA.of(player).add("sword");
        a.playerData().save(player).get(60, TimeUnit.SECONDS);
        hub.kill();
        bagsA.of(player).add("shield");
        CompletableFuture<Void> saved = a.playerData().save(player);
        bagsA.of(player).add("helmet");
        a.playerLeft(player);
        b.playerJoined(player, "Ann");
        hub.start();
        saved.get(60, TimeUnit.SECONDS);
        eventually("the data is open", () -> b.playerData().isOpen(player));
        assertEquals(List.of("sword", "shield", "helmet"), bagsB.of(player), "the last save came first");
        b.playerLeft(player);
        eventually("the session is closed", () -> session().state() != PlayerSessionState.OPEN);
        assertEquals(List.of("sword", "shield", "helmet"), stored());
    }

    @Test
    void theLastSaveComesBeforeTheNextOpening() throws Exception {
        HubConnector a = start(link.url(), "a", bagsA, Duration.ZERO);
        HubConnector b = start("b", bagsB);
        join(a);
        bagsA.of(player).add("sword");
        hub.kill();
        link.cut();
        a.playerLeft(player);
        b.playerJoined(player, "Ann");
        eventually("the outage is noticed", () -> !b.status().registered());
        hub.start();
        // The server before finds the hub two seconds later than the next one.
        for (long end = System.nanoTime() + Duration.ofSeconds(2).toNanos(); System.nanoTime() - end < 0; Thread.sleep(20)) {
            assertFalse(b.playerData().isOpen(player));
        }
        link.heal();
        eventually("the data is open", () -> b.playerData().isOpen(player));
        assertEquals(List.of("sword"), bagsB.of(player));
    }

    /** A network that is suspended, or a key that is replaced late, costs nobody their items. */
    @Test
    void aSaveOutlivesASuspension() throws Exception {
        HubConnector a = start("a", bagsA);
        HubConnector b = start("b", bagsB);
        join(a);
        bagsA.of(player).add("sword");
        hub.operate("admin", "network", "suspend", "tests");
        eventually("the hub refuses the key", () -> owner.players().session(player).handle((session, failure) ->
                failure != null && HubException.of(failure).is("network_suspended")).join());
        CompletableFuture<Void> saved = a.playerData().save(player);
        a.playerLeft(player);
        UUID other = UUID.randomUUID();
        b.playerJoined(other, "Ben");
        eventually("the connectors notice", () -> a.status().lastError() != null && b.status().lastError() != null);
        hub.operate("admin", "network", "resume", "tests");
        saved.get(60, TimeUnit.SECONDS);
        eventually("the session is closed", () -> session().state() == PlayerSessionState.CLOSED);
        assertEquals(List.of("sword"), stored());
        eventually("the other one's data is open", () -> b.playerData().isOpen(other));
    }

    @Test
    void dataIsSavedFromTimeToTime() throws Exception {
        HubConnector a = start(hub.url(), "a", bagsA, Duration.ofSeconds(1));
        join(a);
        bagsA.of(player).add("sword");
        eventually("it is saved", () -> owner.players().getData(player, "global", Bags.NAMESPACE).join().isPresent()
                && stored().equals(List.of("sword")));
        long version = owner.players().getData(player, "global", Bags.NAMESPACE).join().orElseThrow().version();
        assertEquals(1, version, "what did not change is not saved");
        bagsA.of(player).add("shield");
        a.stop().get(60, TimeUnit.SECONDS);
        assertEquals(List.of("sword", "shield"), stored());
        assertEquals(PlayerSessionState.CLOSED, session().state());
    }

    @Test
    void aGameThatRefusesATaskIsAskedAgain() throws Exception {
        HubConnector a = start(hub.url(), "a", bagsA, Duration.ofSeconds(1));
        join(a);
        bagsA.of(player).add("sword");
        Executor before = game.playersThread;
        CountDownLatch refused = new CountDownLatch(1);
        game.playersThread = task -> {
            refused.countDown();
            throw new IllegalStateException("the player has just left");
        };
        assertTrue(refused.await(60, TimeUnit.SECONDS));
        game.playersThread = before;
        eventually("it is saved", () -> owner.players().getData(player, "global", Bags.NAMESPACE).join().isPresent()
                && stored().equals(List.of("sword")));
    }

    @Test
    void aServerStopsInTimeWhileTheHubHangs() throws Exception {
        HubConnector a = start(link.url(), "a", bagsA, Duration.ZERO);
        join(a);
        link.cut();
        a.stop().get(14, TimeUnit.SECONDS);
        assertTrue(a.stop().isDone(), "a second stop is the first one");
    }

    @Test
    void aRestoredSnapshotIsApplied() throws Exception {
        HubConnector a = start("a", bagsA);
        join(a);
        bagsA.of(player).add("sword");
        a.playerLeft(player);
        join(a);
        bagsA.of(player).clear();
        a.playerLeft(player);
        join(a);
        String snapshots = "/api/manage/players/" + player + "/data/global/inventory/snapshots";
        String snapshot = hub.manage("GET", snapshots, null).getAsJsonArray("items").get(1).getAsJsonObject().get("snapshotId").getAsString();
        hub.manage("POST", snapshots + "/" + snapshot + "/restore?force=true", Map.of());
        eventually("the old session is lost", () -> bagsA.ends.contains(player + " LOST"));
        eventually("the data is open again", () -> a.playerData().isOpen(player));
        assertEquals(List.of("sword"), bagsA.of(player));
    }

    @Test
    void smallDataIsPutAndRead() throws Exception {
        HubConnector a = start("a", new PlayerDataHandler() {});
        join(a);
        a.playerData().put(player, Bags.NAMESPACE, "[\"coin\"]");
        assertEquals("[\"coin\"]", a.playerData().get(player, Bags.NAMESPACE).orElseThrow());
        a.playerLeft(player);
        assertTrue(a.playerData().get(player, Bags.NAMESPACE).isEmpty());
        eventually("it is saved", () -> session().state() == PlayerSessionState.CLOSED);
        assertEquals(List.of("coin"), stored());
    }

    @Test
    void whatCannotBeAppliedStaysAsItWas() throws Exception {
        owner.players().putData(player, "global", Bags.NAMESPACE, "[\"sword\"]", null).join();
        Bags broken = new Bags() {
            @Override
            public void apply(UUID id, Map<String, String> data) {
                throw new IllegalStateException("newer data");
            }
        };
        HubConnector a = start("a", broken);
        a.playerJoined(player, "Ann");
        eventually("the plugin is told", () -> broken.ends.equals(List.of(player + " REFUSED")));
        eventually("the session is closed", () -> session().state() == PlayerSessionState.CLOSED);
        assertFalse(a.playerData().isOpen(player));
        assertEquals(List.of("sword"), stored());
    }

    /** A version of the server may lack what a plugin uses. */
    @Test
    void aPluginThatCannotBeLinkedHoldsNobody() throws Exception {
        List<String> missing = new CopyOnWriteArrayList<>(List.of("apply", "capture"));
        Bags broken = new Bags() {
            @Override
            public void apply(UUID id, Map<String, String> data) {
                if (missing.remove("apply")) throw new NoSuchMethodError("apply");
                super.apply(id, data);
            }

            @Override
            public Map<String, String> capture(UUID id) {
                if (missing.remove("capture")) throw new NoSuchMethodError("capture");
                return super.capture(id);
            }
        };
        HubConnector a = start("a", broken);
        a.playerJoined(player, "Ann");
        eventually("the plugin is told", () -> broken.ends.equals(List.of(player + " REFUSED")));
        a.playerLeft(player);
        join(a);
        a.playerLeft(player);
        assertEquals(List.of(), missing);
        eventually("the session is closed", () -> session().state() == PlayerSessionState.CLOSED);
        eventually("the player has left", () -> owner.players().get(player, null).join().filter(now -> !now.online()).isPresent());
        join(a);
    }

    @Test
    void anUnansweredOpeningIsGivenBack() throws Exception {
        HubConnector a = start("a", bagsA);
        start("b", bagsB);
        owner.players().openSession(player, PlayerSessionRequest.builder().serverId("b").build()).join();
        a.playerJoined(player, "Ann");
        a.playerLeft(player);
        eventually("the session is closed", () -> !session().serverId().equals("a") || session().state() == PlayerSessionState.CLOSED);
        assertEquals(List.of(), bagsA.applied);
    }
}
