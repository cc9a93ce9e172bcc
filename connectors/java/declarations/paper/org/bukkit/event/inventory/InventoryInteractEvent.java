// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.event.inventory;

import org.bukkit.entity.HumanEntity;
import org.bukkit.event.Cancellable;
import org.bukkit.event.Event;

public abstract class InventoryInteractEvent extends Event implements Cancellable {
    private final HumanEntity who;
    private boolean isCancelled;

    public InventoryInteractEvent(HumanEntity who) {
        this.who = who;
    }

    public HumanEntity getWhoClicked() {
        return who;
    }

    @Override
    public boolean isCancelled() {
        return isCancelled;
    }

    @Override
    public void setCancelled(boolean cancel) {
        isCancelled = cancel;
    }
}
