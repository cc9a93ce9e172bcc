// Compile-only declaration of a part of Velocity's API, written for this project; never in a jar.
package com.velocitypowered.api.proxy;

import com.velocitypowered.api.command.CommandSource;
import com.velocitypowered.api.proxy.server.RegisteredServer;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.UUID;
import net.kyori.adventure.text.Component;

public interface Player extends CommandSource {
    UUID getUniqueId();

    String getUsername();

    InetSocketAddress getRemoteAddress();

    Optional<ServerConnection> getCurrentServer();

    ConnectionRequestBuilder createConnectionRequest(RegisteredServer server);

    void disconnect(Component reason);
}
