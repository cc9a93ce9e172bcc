// Compile-only declaration of a part of Velocity's API, written for this project; never in a jar.
package com.velocitypowered.api.event.player;

import com.velocitypowered.api.proxy.Player;
import com.velocitypowered.api.proxy.server.RegisteredServer;
import java.util.Optional;

public class PlayerChooseInitialServerEvent {
    private final Player player;
    private RegisteredServer server;

    public PlayerChooseInitialServerEvent(Player player, RegisteredServer server) {
        this.player = player;
        this.server = server;
    }

    public Player getPlayer() {
        return player;
    }

    public Optional<RegisteredServer> getInitialServer() {
        return Optional.ofNullable(server);
    }

    public void setInitialServer(RegisteredServer server) {
        this.server = server;
    }
}
