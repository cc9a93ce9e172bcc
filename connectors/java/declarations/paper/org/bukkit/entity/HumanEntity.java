// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.entity;

import org.bukkit.inventory.Inventory;
import org.bukkit.inventory.ItemStack;
import org.bukkit.inventory.PlayerInventory;

public interface HumanEntity extends LivingEntity {
    PlayerInventory getInventory();

    Inventory getEnderChest();

    void closeInventory();

    ItemStack getItemOnCursor();

    int getFoodLevel();

    void setFoodLevel(int value);

    float getSaturation();

    void setSaturation(float value);

    float getExhaustion();

    void setExhaustion(float value);
}
