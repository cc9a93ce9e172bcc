// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package io.papermc.paper.event.player;

import net.kyori.adventure.text.Component;
import org.bukkit.entity.Player;
import org.bukkit.event.Cancellable;
import org.bukkit.event.player.PlayerEvent;

public abstract class AbstractChatEvent extends PlayerEvent implements Cancellable {
    private final Component message;
    private boolean isCancelled;

    protected AbstractChatEvent(Player player, Component message) {
        super(player);
        this.message = message;
    }

    public final Component message() {
        return message;
    }

    @Override
    public final boolean isCancelled() {
        return isCancelled;
    }

    @Override
    public final void setCancelled(boolean cancel) {
        isCancelled = cancel;
    }
}
