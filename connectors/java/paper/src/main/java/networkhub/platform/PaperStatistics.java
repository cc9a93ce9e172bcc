package networkhub.platform;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.Arrays;
import java.util.List;
import org.bukkit.Material;
import org.bukkit.Statistic;
import org.bukkit.entity.EntityType;
import org.bukkit.entity.Player;

/**
 * A player's statistics as a document: numbers by statistic, and by block, item or creature where a statistic has one for each. Zeros and
 * what this version does not have are left out.
 */
final class PaperStatistics {
    private static final List<Statistic> STATISTICS = List.of(Statistic.values());
    private static final List<Material> BLOCKS = Arrays.stream(Material.values()).filter(each -> !each.isLegacy() && each.isBlock()).toList();
    private static final List<Material> ITEMS = Arrays.stream(Material.values()).filter(each -> !each.isLegacy() && each.isItem()).toList();
    private static final List<EntityType> CREATURES = Arrays.stream(EntityType.values()).filter(each -> each != EntityType.UNKNOWN).toList();

    /** A number of a player. */
    private interface Visitor {
        void visit(String statistic, String kind, Value value);
    }

    private interface Value {
        int get(Player player);

        void set(Player player, int number);
    }

    private PaperStatistics() {}

    static JsonElement capture(Player player) {
        JsonObject document = new JsonObject();
        visitAll((statistic, kind, value) -> {
            int number = number(player, value);
            if (number == 0) return;
            if (kind == null) {
                document.addProperty(statistic, number);
            } else {
                if (!document.has(statistic)) document.add(statistic, new JsonObject());
                document.getAsJsonObject(statistic).addProperty(kind, number);
            }
        });
        return document;
    }

    static PaperPlayerData.Change read(JsonElement element) {
        JsonObject document = element.getAsJsonObject();
        return player -> visitAll((statistic, kind, value) -> {
            JsonElement found = document.get(statistic);
            if (found != null && kind != null) found = found.getAsJsonObject().get(kind);
            int number = found == null ? 0 : found.getAsInt();
            if (number(player, value) != number) value.set(player, number);
        });
    }

    /** Of a few blocks and creatures the game keeps no number. */
    private static int number(Player player, Value value) {
        try {
            return value.get(player);
        } catch (IllegalArgumentException none) {
            return 0;
        }
    }

    private static void visitAll(Visitor visitor) {
        for (Statistic statistic : STATISTICS) {
            Statistic.Type type = statistic.getType();
            if (type == Statistic.Type.UNTYPED) {
                visitor.visit(statistic.name(), null, untyped(statistic));
            } else if (type == Statistic.Type.ENTITY) {
                for (EntityType creature : CREATURES) visitor.visit(statistic.name(), creature.name(), of(statistic, creature));
            } else {
                for (Material material : type == Statistic.Type.BLOCK ? BLOCKS : ITEMS) {
                    visitor.visit(statistic.name(), material.name(), of(statistic, material));
                }
            }
        }
    }

    private static Value untyped(Statistic statistic) {
        return new Value() {
            @Override
            public int get(Player player) {
                return player.getStatistic(statistic);
            }

            @Override
            public void set(Player player, int number) {
                player.setStatistic(statistic, number);
            }
        };
    }

    private static Value of(Statistic statistic, Material material) {
        return new Value() {
            @Override
            public int get(Player player) {
                return player.getStatistic(statistic, material);
            }

            @Override
            public void set(Player player, int number) {
                player.setStatistic(statistic, material, number);
            }
        };
    }

    private static Value of(Statistic statistic, EntityType creature) {
        return new Value() {
            @Override
            public int get(Player player) {
                return player.getStatistic(statistic, creature);
            }

            @Override
            public void set(Player player, int number) {
                player.setStatistic(statistic, creature, number);
            }
        };
    }
}
