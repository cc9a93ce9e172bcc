package networkhub.connector;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** A server's inventories: lists of items, as a game keeps them. */
class Bags implements PlayerDataHandler {
    static final String NAMESPACE = "inventory";

    final Map<UUID, List<String>> bags = new ConcurrentHashMap<>();
    final List<String> ends = new CopyOnWriteArrayList<>();
    final List<UUID> applied = new CopyOnWriteArrayList<>();

    @Override
    public void apply(UUID player, Map<String, String> data) {
        bags.put(player, new CopyOnWriteArrayList<>(items(data.get(NAMESPACE))));
        applied.add(player);
    }

    @Override
    public Map<String, String> capture(UUID player) {
        return Map.of(NAMESPACE, text(bags.get(player)));
    }

    @Override
    public void ended(UUID player, End reason) {
        ends.add(player + " " + reason);
    }

    List<String> of(UUID player) {
        return bags.getOrDefault(player, List.of());
    }

    static List<String> items(String json) {
        List<String> items = new ArrayList<>();
        if (json != null) {
            for (JsonElement item : JsonParser.parseString(json).getAsJsonArray()) items.add(item.getAsString());
        }
        return items;
    }

    private static String text(List<String> items) {
        JsonArray array = new JsonArray();
        items.forEach(array::add);
        return array.toString();
    }
}
