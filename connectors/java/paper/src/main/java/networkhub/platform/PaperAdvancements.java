package networkhub.platform;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.bukkit.advancement.Advancement;
import org.bukkit.advancement.AdvancementProgress;
import org.bukkit.entity.Player;

/**
 * A player's advancements as a document: the criteria that they have met, by advancement. The entries of the recipe book are left out, which
 * the game gives with the first item that needs them.
 */
final class PaperAdvancements {
    /** Players who are given advancements that they had already. */
    private static final Set<UUID> GIVING = ConcurrentHashMap.newKeySet();

    private PaperAdvancements() {}

    /** True while a player is given advancements that they had already. */
    static boolean isGiving(UUID player) {
        return GIVING.contains(player);
    }

    static JsonElement capture(Player player) {
        JsonObject document = new JsonObject();
        for (Iterator<Advancement> all = player.getServer().advancementIterator(); all.hasNext(); ) {
            Advancement advancement = all.next();
            String key = advancement.getKey().toString();
            if (isRecipe(key)) continue;
            JsonArray criteria = new JsonArray();
            player.getAdvancementProgress(advancement).getAwardedCriteria().forEach(criteria::add);
            if (criteria.size() > 0) document.add(key, criteria);
        }
        return document;
    }

    static PaperPlayerData.Change read(JsonElement element) {
        Map<String, Set<String>> wanted = new HashMap<>();
        element.getAsJsonObject().entrySet().forEach(entry -> {
            Set<String> criteria = new HashSet<>();
            entry.getValue().getAsJsonArray().forEach(each -> criteria.add(each.getAsString()));
            wanted.put(entry.getKey(), criteria);
        });
        return player -> give(player, wanted);
    }

    private static void give(Player player, Map<String, Set<String>> wanted) {
        // The game gives the experience of an advancement again.
        int level = player.getLevel();
        float progress = player.getExp();
        int total = player.getTotalExperience();
        GIVING.add(player.getUniqueId());
        try {
            for (Iterator<Advancement> all = player.getServer().advancementIterator(); all.hasNext(); ) {
                Advancement advancement = all.next();
                String key = advancement.getKey().toString();
                if (!isRecipe(key)) match(player.getAdvancementProgress(advancement), wanted.getOrDefault(key, Set.of()));
            }
        } finally {
            GIVING.remove(player.getUniqueId());
            player.setTotalExperience(total);
            player.setLevel(level);
            player.setExp(progress);
        }
    }

    private static void match(AdvancementProgress progress, Set<String> wanted) {
        Set<String> met = new HashSet<>(progress.getAwardedCriteria());
        for (String criterion : List.copyOf(met)) if (!wanted.contains(criterion)) progress.revokeCriteria(criterion);
        for (String criterion : wanted) if (!met.contains(criterion)) progress.awardCriteria(criterion);
    }

    private static boolean isRecipe(String key) {
        return key.substring(key.indexOf(':') + 1).startsWith("recipes/");
    }
}
