// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.command;

import net.kyori.adventure.audience.Audience;
import org.bukkit.permissions.Permissible;

public interface CommandSender extends Audience, Permissible {
    String getName();
}
