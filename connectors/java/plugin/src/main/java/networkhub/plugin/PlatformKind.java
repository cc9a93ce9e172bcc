package networkhub.plugin;

import static networkhub.plugin.Capability.BANS;
import static networkhub.plugin.Capability.CHAT;
import static networkhub.plugin.Capability.COMMANDS;
import static networkhub.plugin.Capability.CONSOLE;
import static networkhub.plugin.Capability.MAINTENANCE;
import static networkhub.plugin.Capability.MUTES;
import static networkhub.plugin.Capability.PERMISSIONS;
import static networkhub.plugin.Capability.PLACEHOLDERS;
import static networkhub.plugin.Capability.PLAYER_DATA;
import static networkhub.plugin.Capability.PRESENCE;
import static networkhub.plugin.Capability.ROUTING;
import static networkhub.plugin.Capability.SERVER_LIST;
import static networkhub.plugin.Capability.STATUS;
import static networkhub.plugin.Capability.TRANSFERS;
import static networkhub.plugin.Capability.VAULT;

import java.util.Set;

/** Kinds of server software, with what each can. */
public enum PlatformKind {
    /** Velocity 3.3 and newer. */
    VELOCITY("Velocity", true, Set.of(BANS, MAINTENANCE, PERMISSIONS, COMMANDS, CONSOLE, ROUTING, SERVER_LIST, STATUS)),
    /** BungeeCord, from 1.21, and its forks. */
    BUNGEECORD("BungeeCord", true, Set.of(BANS, MAINTENANCE, PERMISSIONS, COMMANDS, CONSOLE, ROUTING, SERVER_LIST, STATUS)),
    /** Paper, from 1.20. */
    PAPER("Paper", false, Set.of(PRESENCE, BANS, MAINTENANCE, MUTES, CHAT, PERMISSIONS, COMMANDS, CONSOLE, TRANSFERS, VAULT, PLACEHOLDERS,
            PLAYER_DATA)),
    /** Folia, which has no main thread. */
    FOLIA("Folia", false, Set.of(PRESENCE, BANS, MAINTENANCE, MUTES, CHAT, PERMISSIONS, COMMANDS, CONSOLE, TRANSFERS, VAULT, PLACEHOLDERS,
            PLAYER_DATA)),
    /** Minestom, a library of which servers are made. */
    MINESTOM("Minestom", false, Set.of(PRESENCE, BANS, MAINTENANCE, MUTES, CHAT, PERMISSIONS, COMMANDS, CONSOLE, TRANSFERS, PLAYER_DATA));

    private final String title;
    private final boolean isProxy;
    private final Set<Capability> capabilities;

    PlatformKind(String title, boolean isProxy, Set<Capability> capabilities) {
        this.title = title;
        this.isProxy = isProxy;
        this.capabilities = capabilities;
    }

    /** Name for people. */
    public String title() {
        return title;
    }

    /** True if players go through it to game servers. */
    public boolean isProxy() {
        return isProxy;
    }

    /** True if the plugin does this there. */
    public boolean can(Capability capability) {
        return capabilities.contains(capability);
    }
}
