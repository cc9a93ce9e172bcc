// Compile-only declaration of a part of Velocity's API, written for this project; never in a jar.
package com.velocitypowered.api.event.player;

import com.velocitypowered.api.event.ResultedEvent;
import com.velocitypowered.api.proxy.Player;
import com.velocitypowered.api.proxy.server.RegisteredServer;
import net.kyori.adventure.text.Component;

public final class KickedFromServerEvent implements ResultedEvent<KickedFromServerEvent.ServerKickResult> {
    private final Player player;
    private final RegisteredServer server;
    private final boolean isConnecting;
    private ServerKickResult result;

    public KickedFromServerEvent(Player player, RegisteredServer server, boolean isConnecting, ServerKickResult result) {
        this.player = player;
        this.server = server;
        this.isConnecting = isConnecting;
        this.result = result;
    }

    public Player getPlayer() {
        return player;
    }

    public RegisteredServer getServer() {
        return server;
    }

    public boolean kickedDuringServerConnect() {
        return isConnecting;
    }

    @Override
    public ServerKickResult getResult() {
        return result;
    }

    @Override
    public void setResult(ServerKickResult result) {
        this.result = result;
    }

    public interface ServerKickResult extends ResultedEvent.Result {}

    public static final class DisconnectPlayer implements ServerKickResult {
        private final Component text;

        private DisconnectPlayer(Component text) {
            this.text = text;
        }

        public static DisconnectPlayer create(Component text) {
            return new DisconnectPlayer(text);
        }

        public Component getReasonComponent() {
            return text;
        }

        @Override
        public boolean isAllowed() {
            return true;
        }
    }

    public static final class RedirectPlayer implements ServerKickResult {
        private final RegisteredServer server;
        private final Component text;

        private RedirectPlayer(RegisteredServer server, Component text) {
            this.server = server;
            this.text = text;
        }

        public static RedirectPlayer create(RegisteredServer server, Component text) {
            return new RedirectPlayer(server, text);
        }

        public RegisteredServer getServer() {
            return server;
        }

        public Component getMessageComponent() {
            return text;
        }

        @Override
        public boolean isAllowed() {
            return false;
        }
    }
}
