// Compile-only declaration of a part of Velocity's API, written for this project; never in a jar.
package com.velocitypowered.api.proxy;

import com.velocitypowered.api.proxy.server.ServerInfo;

public interface ServerConnection {
    ServerInfo getServerInfo();
}
