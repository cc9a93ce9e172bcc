// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.entity;

import java.util.UUID;
import net.kyori.adventure.text.Component;
import org.bukkit.Material;
import org.bukkit.OfflinePlayer;
import org.bukkit.Statistic;
import org.bukkit.advancement.Advancement;
import org.bukkit.advancement.AdvancementProgress;
import org.bukkit.plugin.messaging.PluginMessageRecipient;

public interface Player extends HumanEntity, OfflinePlayer, PluginMessageRecipient {
    UUID getUniqueId();

    void kick(Component message);

    void updateCommands();

    int getLevel();

    void setLevel(int level);

    float getExp();

    void setExp(float progress);

    int getTotalExperience();

    void setTotalExperience(int total);

    int getStatistic(Statistic statistic);

    int getStatistic(Statistic statistic, Material material);

    int getStatistic(Statistic statistic, EntityType entity);

    void setStatistic(Statistic statistic, int value);

    void setStatistic(Statistic statistic, Material material, int value);

    void setStatistic(Statistic statistic, EntityType entity, int value);

    AdvancementProgress getAdvancementProgress(Advancement advancement);
}
