// Compile-only declaration of a part of Velocity's API, written for this project; never in a jar.
package com.velocitypowered.api.event.proxy;

import com.velocitypowered.api.proxy.server.ServerPing;

public final class ProxyPingEvent {
    private ServerPing ping;

    public ProxyPingEvent(ServerPing ping) {
        this.ping = ping;
    }

    public ServerPing getPing() {
        return ping;
    }

    public void setPing(ServerPing ping) {
        this.ping = ping;
    }
}
