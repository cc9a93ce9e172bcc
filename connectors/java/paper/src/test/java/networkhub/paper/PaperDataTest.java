package networkhub.paper;

import static networkhub.Eventually.eventually;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonParser;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import networkhub.paper.FakePaper.FakePlayer;
import networkhub.testing.Hub;
import org.bukkit.Material;
import org.bukkit.NamespacedKey;
import org.bukkit.event.entity.EntityDamageEvent;
import org.bukkit.event.inventory.InventoryClickEvent;
import org.bukkit.event.player.PlayerCommandPreprocessEvent;
import org.bukkit.event.player.PlayerDropItemEvent;
import org.bukkit.inventory.ItemStack;
import org.bukkit.potion.PotionEffect;
import org.bukkit.potion.PotionEffectType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Inventories of players who go from server to server, with a real hub. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PaperDataTest {
    private static final String ALL = "items, ender-chest, health, food, experience, effects, statistics, advancements";
    private final List<FakePaper> servers = new ArrayList<>();
    private Hub hub;

    @BeforeAll
    void startHub() throws Exception {
        hub = new Hub();
    }

    @AfterAll
    void stopHub() throws Exception {
        hub.close();
    }

    @AfterEach
    void stopServers() {
        for (FakePaper server : servers) {
            server.close();
            assertEquals(List.of(), server.wrongThreads);
        }
        servers.clear();
    }

    private FakePaper server(boolean isFolia, String parts, String... more) throws Exception {
        String id = "paper-" + UUID.randomUUID();
        List<String> config = new ArrayList<>(List.of("url=" + hub.url(), "key=" + hub.key(), "server-id=" + id, "type=survival", "player-data=" + parts));
        config.addAll(List.of(more));
        FakePaper server = new FakePaper(isFolia, true, config.toArray(String[]::new));
        servers.add(server);
        eventually("the server is online", () -> hub.client().servers().list(null, true, id, 0, 1).join().total() == 1);
        return server;
    }

    /** A player who has joined and whose data is there. */
    private static FakePlayer join(FakePaper server, UUID id) throws Exception {
        FakePlayer player = server.new FakePlayer("Notch", id);
        assertNull(server.join(player));
        eventually("the data is there", () -> !isFrozen(server, player));
        return player;
    }

    private static boolean isFrozen(FakePaper server, FakePlayer player) throws Exception {
        InventoryClickEvent click = new InventoryClickEvent(player.api);
        server.fire(click);
        return click.isCancelled();
    }

    private static int diamonds(FakePlayer player) {
        return Arrays.stream(player.items).filter(Objects::nonNull).mapToInt(ItemStack::getAmount).sum();
    }

    @Test
    void allPartsMoveWithThePlayer() throws Exception {
        FakePaper first = server(true, ALL);
        FakePaper second = server(false, ALL);
        UUID id = UUID.randomUUID();
        FakePlayer before = join(first, id);
        before.items[3] = new ItemStack(Material.DIAMOND, 12);
        before.items[40] = new ItemStack(Material.SHULKER_BOX, 1);
        before.cursor = new ItemStack(Material.DIAMOND, 4);
        before.chest[26] = new ItemStack(Material.DIAMOND, 64);
        before.held = 7;
        before.effects.put("minecraft:health_boost",
                new PotionEffect(PotionEffectType.getByKey(NamespacedKey.fromString("minecraft:health_boost")), 400, 1, false, true, false));
        before.health = 23.5;
        before.food = 11;
        before.saturation = 2.5f;
        before.level = 30;
        before.progress = 0.25f;
        before.total = 1_400;
        first.quit(before);

        FakePlayer after = join(second, id);
        assertEquals(17, diamonds(after), "the one on the cursor is not lost");
        assertEquals(12, after.items[3].getAmount());
        assertEquals(Material.SHULKER_BOX, after.items[40].getType());
        assertEquals(64, after.chest[26].getAmount());
        assertEquals(7, after.held);
        PotionEffect effect = after.effects.get("minecraft:health_boost");
        assertTrue(effect.getDuration() == 400 && effect.getAmplifier() == 1 && !effect.isAmbient() && effect.hasParticles() && !effect.hasIcon());
        assertEquals(23.5, after.health);
        assertEquals(List.of(11, 2.5f, 30, 0.25f, 1_400), List.of(after.food, after.saturation, after.level, after.progress, after.total));
        second.quit(after);
    }

    @Test
    void statisticsAndAdvancementsMoveWithThePlayer() throws Exception {
        FakePaper first = server(true, "statistics, advancements");
        FakePaper second = server(false, ALL);
        UUID id = UUID.randomUUID();
        FakePlayer before = join(first, id);
        before.statistics.putAll(Map.of("JUMP", 7, "MINE_BLOCK SHULKER_BOX", 2, "USE_ITEM DIAMOND", 3, "KILL_ENTITY ZOMBIE", 4));
        before.criteria.put("minecraft:story/mine_stone", Set.of("get_stone"));
        before.criteria.put("minecraft:recipes/misc/bowl", Set.of("has_planks"));
        first.quit(before);

        FakePlayer after = second.new FakePlayer("Notch", id);
        after.statistics.putAll(Map.of("JUMP", 1, "USE_ITEM SHULKER_BOX", 9));
        after.criteria.put("minecraft:nether/root", new HashSet<>(Set.of("entered_nether")));
        after.level = 3;
        assertNull(second.join(after));
        eventually("the data is there", () -> !isFrozen(second, after));
        after.statistics.values().removeIf(number -> number == 0);
        assertEquals(before.statistics, after.statistics, "what was counted here is replaced");
        assertEquals(Map.of("minecraft:story/mine_stone", Set.of("get_stone"), "minecraft:nether/root", Set.of()), after.criteria);
        assertEquals(List.of(3, 0), List.of(after.level, after.total), "no experience is given twice");
        assertEquals(List.of(), after.announced);
        second.quit(after);
        String kept = hub.client().players().getData(id, "global", "minecraft-statistics").join().orElseThrow().data();
        assertEquals(JsonParser.parseString("{\"JUMP\":7,\"MINE_BLOCK\":{\"SHULKER_BOX\":2},\"USE_ITEM\":{\"DIAMOND\":3},\"KILL_ENTITY\":{\"ZOMBIE\":4}}"),
                JsonParser.parseString(kept));
    }

    @Test
    void advancementsMadeHereAreAnnounced() throws Exception {
        FakePaper server = server(false, "advancements");
        FakePlayer player = join(server, UUID.randomUUID());
        player.on(() -> server.advancements(player).awardCriteria("get_stone"));
        assertEquals(1, player.announced.size());
        server.quit(player);
    }

    @Test
    void noItemIsLostOrDoubledInManySwitches() throws Exception {
        FakePaper[] both = {server(false, "items"), server(true, "items")};
        UUID id = UUID.randomUUID();
        FakePlayer here = join(both[0], id);
        for (int i = 1; i <= 20; i++) {
            here.items[0] = new ItemStack(Material.DIAMOND, i);
            FakePaper next = both[i % 2];
            FakePlayer there = next.new FakePlayer("Notch", id);
            if (i % 3 == 0) {
                // The next server is first, as behind a proxy: it waits, and nothing can be moved there.
                assertNull(next.join(there));
                assertTrue(isFrozen(next, there));
                both[(i + 1) % 2].quit(here);
            } else {
                both[(i + 1) % 2].quit(here);
                assertNull(next.join(there));
            }
            eventually("the data is there", () -> !isFrozen(next, there));
            assertEquals(i, diamonds(there), "after switch " + i);
            here = there;
        }
        both[0].quit(here);
    }

    @Test
    void nothingChangesWhileTheDataIsElsewhere() throws Exception {
        FakePaper first = server(false, "items");
        FakePaper second = server(false, "items");
        UUID id = UUID.randomUUID();
        FakePlayer here = join(first, id);
        here.items[0] = new ItemStack(Material.DIAMOND, 3);
        FakePlayer there = join(second, id);
        assertEquals(3, diamonds(there));
        eventually("it is the other server's", () -> isFrozen(first, here));
        PlayerDropItemEvent drop = new PlayerDropItemEvent(here.api);
        EntityDamageEvent damage = new EntityDamageEvent(here.api);
        PlayerCommandPreprocessEvent command = new PlayerCommandPreprocessEvent(here.api, "/trade");
        first.fire(drop);
        first.fire(damage);
        first.fire(command);
        assertTrue(drop.isCancelled() && damage.isCancelled() && command.isCancelled());
        // A change there nevertheless is not kept.
        here.items[0] = new ItemStack(Material.DIAMOND, 64);
        first.quit(here);
        second.quit(there);
        FakePlayer again = join(first, id);
        assertEquals(3, diamonds(again));
        first.quit(again);
    }

    @Test
    void itemsOfANewerVersionAreNotTouched() throws Exception {
        FakePaper server = server(false, "items, food");
        UUID id = UUID.randomUUID();
        String unknown = java.util.Base64.getEncoder().encodeToString("MACE 1".getBytes(java.nio.charset.StandardCharsets.UTF_8));
        hub.client().players().putData(id, "global", "minecraft-items", "{\"slots\":[\"" + unknown + "\"],\"held\":0}", null).join();
        hub.client().players().putData(id, "global", "minecraft-food", "{\"level\":1,\"saturation\":0,\"exhaustion\":0}", null).join();
        FakePlayer player = server.new FakePlayer("Notch", id);
        player.items[0] = new ItemStack(Material.DIAMOND, 1);
        assertNull(server.join(player));
        eventually("the player is sent away", () -> player.kicked != null);
        assertEquals(20, player.food, "no part is changed");
        server.quit(player);
        String kept = hub.client().players().getData(id, "global", "minecraft-items").join().orElseThrow().data();
        assertTrue(kept.contains(unknown), kept);
    }

    @Test
    void partsAndGroupsAreSwitchable() throws Exception {
        FakePaper survival = server(false, ALL);
        FakePaper skyblock = server(false, "experience", "player-data-group=skyblock");
        FakePaper lobby = server(false, "");
        UUID id = UUID.randomUUID();
        FakePlayer player = join(survival, id);
        player.items[0] = new ItemStack(Material.DIAMOND, 1);
        player.level = 5;
        survival.quit(player);
        FakePlayer other = join(skyblock, id);
        assertEquals(List.of(0, 0), List.of(diamonds(other), other.level));
        skyblock.quit(other);
        FakePlayer waiting = join(lobby, id);
        assertEquals(0, diamonds(waiting));
        lobby.quit(waiting);
        FakePlayer back = join(survival, id);
        assertEquals(List.of(1, 5), List.of(diamonds(back), back.level));
        assertNotNull(back.items[0]);
        survival.quit(back);
    }
}
