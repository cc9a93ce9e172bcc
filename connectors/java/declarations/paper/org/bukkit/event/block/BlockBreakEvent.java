// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.event.block;

import org.bukkit.entity.Player;
import org.bukkit.event.Cancellable;
import org.bukkit.event.Event;

public class BlockBreakEvent extends Event implements Cancellable {
    private final Player player;
    private boolean isCancelled;

    public BlockBreakEvent(Player player) {
        this.player = player;
    }

    public Player getPlayer() {
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
