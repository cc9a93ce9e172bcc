// Compile-only declaration of a part of Velocity's API, written for this project; never in a jar.
package com.velocitypowered.api.event.player;

import com.velocitypowered.api.proxy.Player;

public class ServerPostConnectEvent {
    private final Player player;

    public ServerPostConnectEvent(Player player) {
        this.player = player;
    }

    public Player getPlayer() {
        return player;
    }
}
