// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.event.inventory;

import org.bukkit.entity.HumanEntity;

public class InventoryClickEvent extends InventoryInteractEvent {

    public InventoryClickEvent(HumanEntity who) {
        super(who);
    }
}
