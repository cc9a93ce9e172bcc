// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.inventory;

public interface PlayerInventory extends Inventory {
    int getHeldItemSlot();

    void setHeldItemSlot(int slot);
}
