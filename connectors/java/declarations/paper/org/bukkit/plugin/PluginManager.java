// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.plugin;

import java.util.Set;
import org.bukkit.event.Listener;
import org.bukkit.permissions.Permission;

public interface PluginManager {
    Plugin[] getPlugins();

    void registerEvents(Listener listener, Plugin plugin);

    void addPermission(Permission permission);

    void removePermission(String name);

    Set<Permission> getPermissions();
}
