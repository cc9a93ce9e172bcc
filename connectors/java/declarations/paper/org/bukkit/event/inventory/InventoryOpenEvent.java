// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.event.inventory;

import org.bukkit.entity.HumanEntity;
import org.bukkit.event.Cancellable;
import org.bukkit.event.Event;

public class InventoryOpenEvent extends Event implements Cancellable {
    private final HumanEntity player;
    private boolean isCancelled;

    public InventoryOpenEvent(HumanEntity player) {
        this.player = player;
    }

    public final HumanEntity getPlayer() {
        return player;
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
