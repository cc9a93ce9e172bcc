// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.event.player;

import net.kyori.adventure.text.Component;
import org.bukkit.entity.Player;

public class PlayerAdvancementDoneEvent extends PlayerEvent {
    private Component message;

    public PlayerAdvancementDoneEvent(Player player, Component message) {
        super(player);
        this.message = message;
    }

    public Component message() {
        return message;
    }

    public void message(Component message) {
        this.message = message;
    }
}
