// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.event.player;

import java.net.InetAddress;
import java.util.UUID;
import net.kyori.adventure.text.Component;
import org.bukkit.event.Event;

public class AsyncPlayerPreLoginEvent extends Event {
    private final String name;
    private final InetAddress address;
    private final UUID player;
    private Result result = Result.ALLOWED;
    private Component message;

    public AsyncPlayerPreLoginEvent(String name, InetAddress address, UUID player) {
        this.name = name;
        this.address = address;
        this.player = player;
    }

    public UUID getUniqueId() {
        return player;
    }

    public String getName() {
        return name;
    }

    public InetAddress getAddress() {
        return address;
    }

    public Result getLoginResult() {
        return result;
    }

    public Component kickMessage() {
        return message;
    }

    public void disallow(Result result, Component message) {
        this.result = result;
        this.message = message;
    }

    public enum Result { ALLOWED, KICK_FULL, KICK_BANNED, KICK_WHITELIST, KICK_OTHER }
}
