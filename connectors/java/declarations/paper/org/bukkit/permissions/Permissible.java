// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.permissions;

import org.bukkit.plugin.Plugin;

public interface Permissible {
    boolean hasPermission(String name);

    PermissionAttachment addAttachment(Plugin plugin);
}
