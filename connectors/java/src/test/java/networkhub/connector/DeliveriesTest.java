package networkhub.connector;

import static networkhub.Eventually.eventually;
import static networkhub.Eventually.within;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonPrimitive;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import networkhub.HubClient;
import networkhub.HubProcess;
import networkhub.Requests;
import networkhub.TcpProxy;
import networkhub.model.DeliveryOnLost;
import networkhub.model.DeliveryRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Purchases, while hub and servers are killed. */
class DeliveriesTest {
    private HubProcess hub;
    private HubClient owner;
    private TcpProxy link;
    private final List<HubConnector> connectors = new ArrayList<>();
    private final FakeGame game = new FakeGame();
    /** Runs once, when data is captured next. */
    private final AtomicReference<Runnable> atCapture = new AtomicReference<>(() -> { });
    private final Bags bags = new Bags() {
        @Override
        public Map<String, String> capture(UUID captured) {
            atCapture.getAndSet(() -> { }).run();
            return super.capture(captured);
        }
    };
    private final List<String> given = new CopyOnWriteArrayList<>();
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

    private HubConnector start(String url, String server, FakeGame game) throws Exception {
        HubConnector connector = HubConnector.builder(HubClient.create(url, hub.key), Requests.server(server, "games").build(), game)
                .playerData(bags, Bags.NAMESPACE).autosave(Duration.ZERO).connector();
        connectors.add(connector);
        connector.start();
        eventually("the connector is connected", () -> connector.status().isConnected());
        return connector;
    }

    private long order(String kind, String item, DeliveryOnLost onLost) {
        return owner.deliveries().create(DeliveryRequest.builder().playerUuid(player).kind(kind).payload(new JsonPrimitive(item))
                .reference("order-" + item).onLost(onLost).build()).join().deliveryId();
    }

    private long order(String kind, String item) {
        return order(kind, item, DeliveryOnLost.HOLD);
    }

    private String state(long id) {
        JsonArray all = hub.manage("GET", "/api/manage/deliveries?limit=100", null).getAsJsonArray("items");
        for (var each : all) {
            if (each.getAsJsonObject().get("deliveryId").getAsLong() == id) return each.getAsJsonObject().get("state").getAsString();
        }
        return null;
    }

    @Test
    void aPurchaseArrivesOnce() throws Exception {
        HubConnector connector = start(hub.url(), "a", game);
        connector.onDelivery("kit", delivery -> given.add(delivery.payload().getAsString()));
        long before = order("kit", "sword");
        connector.playerJoined(player, "Ann");
        eventually("it is given", () -> given.equals(List.of("sword")) && state(before).equals("DELIVERED"));
        long online = order("kit", "shield");
        order("other", "nothing");
        eventually("so is the next", () -> given.equals(List.of("sword", "shield")) && state(online).equals("DELIVERED"));
    }

    @Test
    void aFailureIsTriedAgain() throws Exception {
        HubConnector connector = start(hub.url(), "a", game);
        List<Long> tries = new CopyOnWriteArrayList<>();
        connector.onDelivery("flaky", delivery -> {
            tries.add(System.nanoTime());
            if (tries.size() == 1) throw new NoSuchMethodError("an older server");
            if (tries.size() == 2) throw new IllegalStateException("no room");
        });
        connector.onDelivery("wrong", delivery -> {
            throw new DeliveryException("no such rank", false);
        });
        connector.playerJoined(player, "Ann");
        long flaky = order("flaky", "a");
        long wrong = order("wrong", "b");
        eventually("it is given", () -> state(flaky).equals("DELIVERED"));
        assertEquals(3, tries.size());
        assertTrue(tries.get(1) - tries.get(0) >= TimeUnit.SECONDS.toNanos(2), "after two seconds");
        assertTrue(tries.get(2) - tries.get(1) >= TimeUnit.SECONDS.toNanos(4), "then after four");
        eventually("it has failed", () -> state(wrong).equals("FAILED"));
    }

    @Test
    void itemsAreSavedWithTheirDelivery() throws Exception {
        HubConnector connector = start(hub.url(), "a", game);
        connector.onDataDelivery("item", delivery -> bags.of(player).add(delivery.payload().getAsString()));
        long first = order("item", "sword");
        connector.playerJoined(player, "Ann");
        eventually("it is given", () -> state(first).equals("DELIVERED"));
        assertEquals("[\"sword\"]", owner.players().getData(player, "global", Bags.NAMESPACE).join().orElseThrow().data());
        // The hub dies while the next ones come.
        List<Long> ids = new ArrayList<>();
        for (int i = 0; i < 5; i++) ids.add(order("item", "i" + i));
        hub.kill();
        hub.start();
        connector.playerLeft(player);
        connector.playerJoined(player, "Ann");
        within(Duration.ofSeconds(90), "all are given", () -> ids.stream().allMatch(id -> !state(id).matches("PENDING|CLAIMED")));
        connector.playerLeft(player);
        eventually("the session is closed", () -> owner.players().session(player).join().orElseThrow().endedAt() != null);
        List<String> items = Bags.items(owner.players().getData(player, "global", Bags.NAMESPACE).join().orElseThrow().data());
        for (int i = 0; i < 5; i++) {
            assertEquals(state(ids.get(i)).equals("DELIVERED"), items.contains("i" + i), items + " i" + i);
        }
        assertEquals(items.stream().distinct().toList(), items, "nothing is doubled");
    }

    @Test
    void aSaveBesideADeliveryDoesNotSettleIt() throws Exception {
        HubConnector connector = start(hub.url(), "a", game);
        game.playersThread = task -> new Thread(task).start();
        List<String> states = new CopyOnWriteArrayList<>();
        connector.onDataDelivery("item", delivery -> {
            bags.of(player).add(delivery.payload().getAsString());
            atCapture.set(() -> {
                connector.playerData().save(player).join();
                states.add(state(delivery.deliveryId()));
            });
        });
        connector.playerJoined(player, "Ann");
        long id = order("item", "sword");
        eventually("it is given", () -> state(id).equals("DELIVERED"));
        assertEquals(List.of("CLAIMED"), states);
    }

    @Test
    void whatCannotBeCapturedIsNotGivenTwice() throws Exception {
        HubConnector connector = start(hub.url(), "a", game);
        connector.onDataDelivery("item", delivery -> {
            given.add(delivery.payload().getAsString());
            atCapture.set(() -> {
                throw new NoSuchMethodError("an older server");
            });
        });
        connector.playerJoined(player, "Ann");
        long id = order("item", "sword");
        eventually("a person decides", () -> state(id).equals("FAILED"));
        assertEquals(List.of("sword"), given);
    }

    @Test
    void whatTheHubDoesNotSaveIsNotGivenTwice() throws Exception {
        HubConnector connector = start(hub.url(), "a", game);
        connector.onDataDelivery("item", delivery -> {
            given.add(delivery.payload().getAsString());
            // More than a namespace may hold.
            bags.of(player).add("x".repeat(300_000));
        });
        connector.playerJoined(player, "Ann");
        long id = order("item", "book");
        eventually("a person decides", () -> state(id).equals("FAILED"));
        assertEquals(List.of("book"), given);
        assertTrue(connector.playerData().isOpen(player));
    }

    @Test
    void anItemThatIsSavedAfterItsClaimIsGivenOnce() throws Exception {
        HubConnector connector = start(link.url(), "a", game);
        game.playersThread = task -> new Thread(task).start();
        connector.playerJoined(player, "Ann");
        eventually("the data is open", () -> connector.playerData().isOpen(player));
        PlayerHold hold = connector.playerData().holds.get(player);
        connector.onDataDelivery("item", delivery -> {
            if (given.isEmpty()) {
                // The next save waits for one that hangs.
                link.cut();
                connector.playerData().put(player, "note", "1");
                connector.playerData().save(player);
                eventually("a save is under way", () -> hold.isSaving);
            }
            given.add(delivery.payload().getAsString());
            bags.of(player).add(delivery.payload().getAsString());
        });
        long id = order("item", "sword", DeliveryOnLost.RETRY);
        eventually("the item is there", () -> {
            synchronized (hold) {
                return !hold.claims.isEmpty();
            }
        });
        // The claim ends before the save, as when the hub was away for a minute.
        owner.deliveries().fail(id, hold.claims.get(0).claim(), "too late", true).join();
        link.heal();
        eventually("it is settled", () -> state(id).equals("DELIVERED"));
        assertEquals(List.of("sword"), given);
        assertEquals(List.of("sword"),
                Bags.items(owner.players().getData(player, "global", Bags.NAMESPACE).join().orElseThrow().data()));
    }

    @Test
    void aServerThatStopsSettlesWhatItHasBegunAndGivesBackTheRest() throws Exception {
        HubConnector connector = start(hub.url(), "a", game);
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch stopping = new CountDownLatch(1);
        connector.onDelivery("begun", task -> new Thread(task).start(), delivery -> {
            running.countDown();
            stopping.await();
            given.add(delivery.payload().getAsString());
        });
        // A main thread that is busy with stopping runs nothing more.
        connector.onDelivery("waiting", task -> { }, delivery -> given.add(delivery.payload().getAsString()));
        connector.playerJoined(player, "Ann");
        long begun = order("begun", "sword");
        long waiting = order("waiting", "shield");
        assertTrue(running.await(60, TimeUnit.SECONDS));
        eventually("both are claimed", () -> state(begun).equals("CLAIMED") && state(waiting).equals("CLAIMED"));
        CompletableFuture<Void> stopped = connector.stop();
        stopping.countDown();
        stopped.get(60, TimeUnit.SECONDS);
        assertEquals(List.of("sword"), given);
        assertEquals("DELIVERED", state(begun));
        assertEquals("PENDING", state(waiting));
    }

    @Test
    void aLostClaimIsHeldOrTriedAgain() throws Exception {
        CountDownLatch running = new CountDownLatch(2);
        try (FakeGame other = new FakeGame()) {
            HubConnector dying = start(link.url(), "a", game);
            // Both are claimed, and then run without a hub that hears of it.
            CountDownLatch claimed = new CountDownLatch(2);
            Executor whenBothAreClaimed = task -> new Thread(() -> {
                claimed.countDown();
                try {
                    claimed.await();
                } catch (InterruptedException ended) {
                    return;
                }
                link.cut();
                task.run();
            }).start();
            dying.onDelivery("kit", whenBothAreClaimed, delivery -> running.countDown());
            dying.onDelivery("rank", whenBothAreClaimed, delivery -> running.countDown());
            dying.playerJoined(player, "Ann");
            eventually("the player is here", () -> dying.playerData().isOpen(player));
            HubConnector next = start(hub.url(), "b", other);
            next.onDelivery("rank", delivery -> given.add(delivery.payload().getAsString()));
            next.onDelivery("kit", delivery -> given.add(delivery.payload().getAsString()));
            long held = order("kit", "sword", DeliveryOnLost.HOLD);
            long again = order("rank", "vip", DeliveryOnLost.RETRY);
            assertTrue(running.await(60, TimeUnit.SECONDS));
            next.playerJoined(player, "Ann");
            within(Duration.ofSeconds(120), "the rank is given elsewhere", () -> state(again).equals("DELIVERED"));
            within(Duration.ofSeconds(120), "the kit is held", () -> state(held).equals("HELD"));
            assertEquals(List.of("vip"), given);
        }
    }
}
