// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.event.player;

import org.bukkit.entity.Player;
import org.bukkit.event.Cancellable;

public class PlayerDropItemEvent extends PlayerEvent implements Cancellable {
    private boolean isCancelled;

    public PlayerDropItemEvent(Player player) {
        super(player);
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
