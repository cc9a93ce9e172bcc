package networkhub.connector;

import static networkhub.Eventually.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import networkhub.HubClient;
import networkhub.HubProcess;
import networkhub.example.Recipes;
import networkhub.Requests;
import networkhub.model.WorldBootOrder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The guide's recipes at work. */
class RecipesTest {
    private HubProcess hub;
    private HubClient owner;
    private HubConnector connector;
    private Recipes recipes;
    private final FakeGame game = new FakeGame();
    private final List<HubConnector> connectors = new ArrayList<>();
    private final UUID player = UUID.randomUUID();

    @BeforeEach
    void start() throws Exception {
        hub = new HubProcess();
        owner = hub.client();
        connector = connect("lobby-1", "lobby");
        recipes = new Recipes(connector);
    }

    @AfterEach
    void stop() throws Exception {
        for (HubConnector each : connectors) each.stop().get(60, TimeUnit.SECONDS);
        game.close();
        hub.close();
    }

    private HubConnector connect(String id, String type) throws Exception {
        HubConnector made = HubConnector.builder(hub.client(), Requests.server(id, type).maxPlayers(8).build(), game)
                .connector();
        connectors.add(made);
        made.start();
        eventually("it is connected", () -> made.status().isConnected());
        return made;
    }

    @Test
    void changesOfDataAreNeverLost() throws Exception {
        List<CompletableFuture<?>> changes = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            changes.add(recipes.change(player, data -> {
                JsonObject next = data.deepCopy();
                next.addProperty("level", data.has("level") ? data.get("level").getAsInt() + 1 : 1);
                return next;
            }));
        }
        CompletableFuture.allOf(changes.toArray(CompletableFuture<?>[]::new)).get(60, TimeUnit.SECONDS);
        assertEquals("{\"level\":20}", owner.players().getData(player, "skyblock", "profile").join().orElseThrow().data());
    }

    @Test
    void anIslandIsOpenedAndVisited() throws Exception {
        HubConnector node = connect("node-1", "islands");
        node.on("WORLD_OPEN", event -> {
            WorldBootOrder open = event.as(WorldBootOrder.class);
            node.client().worlds().ready(open.worldId(), "node-1", open.fence());
        });
        connector.playerJoined(player, "Ann");
        assertTrue(recipes.visitIsland(player).get(60, TimeUnit.SECONDS).success());
        eventually("the player is sent", () -> game.transfers.size() == 1 && game.transfers.get(0).targetWorldId() != null);
    }

    @Test
    void configFollowsTheOperator() throws Exception {
        CachedConfig rounds = recipes.rounds();
        JsonObject five = new JsonObject();
        five.addProperty("rounds", 5);
        eventually("the default is stored", () -> owner.config().get("bedwars", "rules").join().isPresent());
        owner.config().publish("bedwars", "rules", five).join();
        eventually("the rules are new", () -> rounds.get().equals(five));
    }

    @Test
    void moneyIsNeitherMadeNorLost() {
        UUID other = UUID.randomUUID();
        owner.economy().modify("player", player.toString(), "coins", BigDecimal.TEN, null).join();
        // Of ten sales at once three can be paid.
        List<CompletableFuture<Boolean>> sales = new ArrayList<>();
        for (int i = 0; i < 10; i++) sales.add(recipes.buy(player, new BigDecimal("3")));
        assertEquals(3, sales.stream().filter(CompletableFuture::join).count());
        recipes.pay(player, other, BigDecimal.ONE).join();
        assertEquals(0, owner.economy().balances("player", other.toString()).join().get(0).balance().compareTo(BigDecimal.ONE));
        assertEquals(0, owner.economy().balances("player", player.toString()).join().get(0).balance().signum());
        assertFalse(recipes.buy(player, BigDecimal.ONE).join());
    }

    @Test
    void aPartyIsSentWhole() throws Exception {
        connect("bedwars-1", "bedwars");
        UUID friend = UUID.randomUUID();
        connector.playerJoined(player, "Ann");
        connector.playerJoined(friend, "Ben");
        assertTrue(recipes.playTogether(player, "Ann", List.of(player, friend)).join().success());
        eventually("both are sent", () -> game.transfers.size() == 2);
    }
}
