// Compile-only declaration of a part of Velocity's API, written for this project; never in a jar.
package com.velocitypowered.api.proxy;

import com.velocitypowered.api.command.CommandManager;
import com.velocitypowered.api.event.EventManager;
import com.velocitypowered.api.plugin.PluginManager;
import com.velocitypowered.api.proxy.config.ProxyConfig;
import com.velocitypowered.api.proxy.server.RegisteredServer;
import com.velocitypowered.api.proxy.server.ServerInfo;
import com.velocitypowered.api.scheduler.Scheduler;
import com.velocitypowered.api.util.ProxyVersion;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.Optional;
import java.util.UUID;
import net.kyori.adventure.audience.Audience;

public interface ProxyServer extends Audience {
    Optional<Player> getPlayer(UUID player);

    Collection<Player> getAllPlayers();

    Optional<RegisteredServer> getServer(String name);

    RegisteredServer registerServer(ServerInfo server);

    void unregisterServer(ServerInfo server);

    PluginManager getPluginManager();

    EventManager getEventManager();

    CommandManager getCommandManager();

    Scheduler getScheduler();

    InetSocketAddress getBoundAddress();

    ProxyConfig getConfiguration();

    ProxyVersion getVersion();
}
