// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.event.player;

import org.bukkit.entity.Player;
import org.bukkit.event.Event;

public abstract class PlayerEvent extends Event {
    private final Player player;

    protected PlayerEvent(Player player) {
        this.player = player;
    }

    public final Player getPlayer() {
        return player;
    }
}
