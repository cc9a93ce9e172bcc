// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.plugin.messaging;

import org.bukkit.plugin.Plugin;

public interface PluginMessageRecipient {
    void sendPluginMessage(Plugin source, String channel, byte[] message);
}
