package networkhub.platform;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.function.Function;
import networkhub.plugin.PlayerState;
import org.bukkit.NamespacedKey;
import org.bukkit.Server;
import org.bukkit.entity.Player;
import org.bukkit.inventory.Inventory;
import org.bukkit.inventory.ItemStack;
import org.bukkit.potion.PotionEffect;
import org.bukkit.potion.PotionEffectType;

/**
 * A player's state that moves with them: each part is a document of its own, so servers with other parts do not disturb each other. All of it is read before
 * any of it changes the player, so that items which this server cannot read leave everything as it was.
 */
final class PaperPlayerData implements PlayerState {
    /** Parts of a player's state, by their names in the settings. */
    enum Part {
        /** First, because the game gives experience for them. */
        ADVANCEMENTS("advancements", PaperAdvancements::capture, PaperAdvancements::read),
        STATISTICS("statistics", PaperStatistics::capture, PaperStatistics::read),
        ITEMS("items", PaperPlayerData::items, PaperPlayerData::readItems),
        ENDER_CHEST("ender-chest", player -> contents(player.getEnderChest()), PaperPlayerData::readEnderChest),
        /** Before the health, whose maximum depends on them. */
        EFFECTS("effects", PaperPlayerData::effects, PaperPlayerData::readEffects),
        HEALTH("health", PaperPlayerData::health, PaperPlayerData::readHealth),
        FOOD("food", PaperPlayerData::food, PaperPlayerData::readFood),
        EXPERIENCE("experience", PaperPlayerData::experience, PaperPlayerData::readExperience);

        final String title;
        final Function<Player, JsonElement> capture;
        /** Reads a document; what it returns puts it into the game. */
        final Function<JsonElement, Change> read;

        Part(String title, Function<Player, JsonElement> capture, Function<JsonElement, Change> read) {
            this.title = title;
            this.capture = capture;
            this.read = read;
        }

        String namespace() {
            return "minecraft-" + title;
        }
    }

    /** A change of a player. */
    interface Change {
        void make(Player player);
    }

    private final Server server;
    private final Set<Part> parts = EnumSet.noneOf(Part.class);

    /** @param unknown takes a name that is no part, and the names of the parts */
    PaperPlayerData(Server server, List<String> names, BiConsumer<String, String> unknown) {
        this.server = server;
        for (String name : names) {
            Part found = EnumSet.allOf(Part.class).stream().filter(part -> part.title.equalsIgnoreCase(name)).findFirst().orElse(null);
            if (found == null) unknown.accept(name, String.join(", ", EnumSet.allOf(Part.class).stream().map(part -> part.title).toList()));
            else parts.add(found);
        }
    }

    @Override
    public List<String> namespaces() {
        return parts.stream().map(Part::namespace).toList();
    }

    @Override
    public void apply(UUID id, Map<String, String> data) {
        Player player = server.getPlayer(id);
        if (player == null) return;
        List<Change> changes = parts.stream().filter(part -> data.containsKey(part.namespace()))
                .map(part -> part.read.apply(JsonParser.parseString(data.get(part.namespace())))).toList();
        player.closeInventory();
        changes.forEach(change -> change.make(player));
    }

    @Override
    public Map<String, String> capture(UUID id) {
        Player player = server.getPlayer(id);
        Map<String, String> data = new HashMap<>();
        if (player == null) return data;
        // The item on the cursor comes back into the inventory.
        if (parts.contains(Part.ITEMS) && !isEmpty(player.getItemOnCursor())) player.closeInventory();
        for (Part part : parts) data.put(part.namespace(), part.capture.apply(player).toString());
        return data;
    }

    private static boolean isEmpty(ItemStack item) {
        return item == null || item.getType().isAir() || item.getAmount() <= 0;
    }

    private static JsonArray contents(Inventory inventory) {
        JsonArray slots = new JsonArray();
        for (ItemStack item : inventory.getContents()) {
            if (isEmpty(item)) slots.add(JsonNull.INSTANCE);
            else slots.add(Base64.getEncoder().encodeToString(item.serializeAsBytes()));
        }
        return slots;
    }

    private static ItemStack[] readContents(JsonElement slots) {
        JsonArray found = slots.getAsJsonArray();
        ItemStack[] items = new ItemStack[found.size()];
        for (int i = 0; i < items.length; i++) {
            if (!found.get(i).isJsonNull()) items[i] = ItemStack.deserializeBytes(Base64.getDecoder().decode(found.get(i).getAsString()));
        }
        return items;
    }

    /** Versions differ in the number of slots; no item is dropped for that. */
    private static void fill(Inventory inventory, ItemStack[] items) {
        ItemStack[] contents = new ItemStack[inventory.getContents().length];
        System.arraycopy(items, 0, contents, 0, Math.min(items.length, contents.length));
        for (int i = contents.length; i < items.length; i++) {
            if (items[i] == null) continue;
            int free = 0;
            while (free < contents.length && contents[free] != null) free++;
            if (free == contents.length) throw new IllegalStateException("There are more items than this server has slots for.");
            contents[free] = items[i];
        }
        inventory.setContents(contents);
    }

    private static JsonElement items(Player player) {
        JsonObject document = new JsonObject();
        document.add("slots", contents(player.getInventory()));
        document.addProperty("held", player.getInventory().getHeldItemSlot());
        return document;
    }

    private static Change readItems(JsonElement document) {
        ItemStack[] items = readContents(document.getAsJsonObject().get("slots"));
        int held = Math.max(0, Math.min(8, document.getAsJsonObject().get("held").getAsInt()));
        return player -> {
            fill(player.getInventory(), items);
            player.getInventory().setHeldItemSlot(held);
        };
    }

    private static Change readEnderChest(JsonElement document) {
        ItemStack[] items = readContents(document);
        return player -> fill(player.getEnderChest(), items);
    }

    private static JsonElement health(Player player) {
        JsonObject document = new JsonObject();
        // The dead come alive elsewhere.
        document.addProperty("health", player.getHealth() > 0 ? player.getHealth() : player.getMaxHealth());
        return document;
    }

    private static Change readHealth(JsonElement document) {
        double health = document.getAsJsonObject().get("health").getAsDouble();
        return player -> {
            if (player.getHealth() > 0 && health > 0) player.setHealth(Math.min(health, player.getMaxHealth()));
        };
    }

    private static JsonElement food(Player player) {
        JsonObject document = new JsonObject();
        document.addProperty("level", player.getFoodLevel());
        document.addProperty("saturation", player.getSaturation());
        document.addProperty("exhaustion", player.getExhaustion());
        return document;
    }

    private static Change readFood(JsonElement document) {
        JsonObject food = document.getAsJsonObject();
        int level = food.get("level").getAsInt();
        float saturation = food.get("saturation").getAsFloat();
        float exhaustion = food.get("exhaustion").getAsFloat();
        return player -> {
            player.setFoodLevel(level);
            player.setSaturation(saturation);
            player.setExhaustion(exhaustion);
        };
    }

    private static JsonElement experience(Player player) {
        JsonObject document = new JsonObject();
        document.addProperty("level", player.getLevel());
        document.addProperty("progress", player.getExp());
        document.addProperty("total", player.getTotalExperience());
        return document;
    }

    private static Change readExperience(JsonElement document) {
        JsonObject experience = document.getAsJsonObject();
        int level = experience.get("level").getAsInt();
        float progress = experience.get("progress").getAsFloat();
        int total = experience.get("total").getAsInt();
        return player -> {
            player.setTotalExperience(total);
            player.setLevel(level);
            player.setExp(progress);
        };
    }

    private static JsonElement effects(Player player) {
        JsonArray effects = new JsonArray();
        for (PotionEffect effect : player.getActivePotionEffects()) {
            JsonObject document = new JsonObject();
            document.addProperty("type", effect.getType().getKey().toString());
            document.addProperty("ticks", effect.getDuration());
            document.addProperty("amplifier", effect.getAmplifier());
            document.addProperty("ambient", effect.isAmbient());
            document.addProperty("particles", effect.hasParticles());
            document.addProperty("icon", effect.hasIcon());
            effects.add(document);
        }
        return effects;
    }

    /** An effect that this version does not have is left out. */
    private static Change readEffects(JsonElement document) {
        List<PotionEffect> effects = new ArrayList<>();
        for (JsonElement each : document.getAsJsonArray()) {
            JsonObject effect = each.getAsJsonObject();
            NamespacedKey key = NamespacedKey.fromString(effect.get("type").getAsString());
            PotionEffectType type = key == null ? null : PotionEffectType.getByKey(key);
            if (type == null) continue;
            effects.add(new PotionEffect(type, effect.get("ticks").getAsInt(), effect.get("amplifier").getAsInt(),
                    effect.get("ambient").getAsBoolean(), effect.get("particles").getAsBoolean(), effect.get("icon").getAsBoolean()));
        }
        return player -> {
            for (PotionEffect effect : List.copyOf(player.getActivePotionEffects())) player.removePotionEffect(effect.getType());
            effects.forEach(player::addPotionEffect);
        };
    }
}
