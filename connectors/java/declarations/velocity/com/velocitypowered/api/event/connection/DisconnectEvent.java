// Compile-only declaration of a part of Velocity's API, written for this project; never in a jar.
package com.velocitypowered.api.event.connection;

import com.velocitypowered.api.proxy.Player;

public final class DisconnectEvent {
    private final Player player;
    private final LoginStatus status;

    public DisconnectEvent(Player player, LoginStatus status) {
        this.player = player;
        this.status = status;
    }

    public Player getPlayer() {
        return player;
    }

    public LoginStatus getLoginStatus() {
        return status;
    }

    public enum LoginStatus {
        SUCCESSFUL_LOGIN,
        CONFLICTING_LOGIN,
        CANCELLED_BY_USER,
        CANCELLED_BY_PROXY,
        CANCELLED_BY_USER_BEFORE_COMPLETE,
        PRE_SERVER_JOIN
    }
}
