// Compile-only declaration of a part of Velocity's API, written for this project; never in a jar.
package com.velocitypowered.api.proxy.server;

import java.net.InetSocketAddress;

public final class ServerInfo {
    private final String name;
    private final InetSocketAddress address;

    public ServerInfo(String name, InetSocketAddress address) {
        this.name = name;
        this.address = address;
    }

    public String getName() {
        return name;
    }

    public InetSocketAddress getAddress() {
        return address;
    }
}
