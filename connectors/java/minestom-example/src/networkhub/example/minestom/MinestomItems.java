package networkhub.example.minestom;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import net.kyori.adventure.nbt.TagStringIO;
import net.minestom.server.entity.Player;
import net.minestom.server.inventory.PlayerInventory;
import net.minestom.server.item.ItemStack;
import networkhub.plugin.PlayerState;

/** Items that move with players from server to server. */
final class MinestomItems implements PlayerState {
    private static final String ITEMS = "minestom-items";

    private final MinestomPlatform platform;

    MinestomItems(MinestomPlatform platform) {
        this.platform = platform;
    }

    @Override
    public List<String> namespaces() {
        return List.of(ITEMS);
    }

    @Override
    public void apply(UUID id, Map<String, String> data) {
        Player player = platform.player(id);
        if (player == null) return;
        // All are read before one is given, so that an item that is unknown here leaves everything as it was.
        JsonObject document = JsonParser.parseString(data.getOrDefault(ITEMS, "{\"slots\":[],\"held\":0}")).getAsJsonObject();
        List<ItemStack> items = document.getAsJsonArray("slots").asList().stream().map(MinestomItems::read).toList();
        player.closeInventory();
        PlayerInventory inventory = player.getInventory();
        for (int slot = 0; slot < inventory.getSize(); slot++) {
            inventory.setItemStack(slot, slot < items.size() ? items.get(slot) : ItemStack.AIR);
        }
        player.setHeldItemSlot(document.get("held").getAsByte());
        player.sendMessage(MinestomTexts.of("<gray>Your inventory is here.</gray>"));
    }

    @Override
    public Map<String, String> capture(UUID id) {
        Player player = platform.player(id);
        if (player == null) return Map.of();
        PlayerInventory inventory = player.getInventory();
        ItemStack cursor = inventory.getCursorItem();
        if (!cursor.isAir() && inventory.addItemStack(cursor)) inventory.setCursorItem(ItemStack.AIR);
        JsonArray slots = new JsonArray();
        for (ItemStack item : inventory.getItemStacks()) slots.add(written(item));
        JsonObject document = new JsonObject();
        document.add("slots", slots);
        document.addProperty("held", player.getHeldSlot());
        return Map.of(ITEMS, document.toString());
    }

    private static ItemStack read(JsonElement slot) {
        if (slot.isJsonNull()) return ItemStack.AIR;
        try {
            return ItemStack.fromItemNBT(TagStringIO.tagStringIO().asCompound(slot.getAsString()));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private static JsonElement written(ItemStack item) {
        if (item.isAir()) return JsonNull.INSTANCE;
        try {
            return new com.google.gson.JsonPrimitive(TagStringIO.tagStringIO().asString(item.toItemNBT()));
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }
}
