// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package io.papermc.paper.event.player;

import net.kyori.adventure.text.Component;
import org.bukkit.entity.Player;

public final class AsyncChatEvent extends AbstractChatEvent {
    public AsyncChatEvent(Player player, Component message) {
        super(player, message);
    }
}
