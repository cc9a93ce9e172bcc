// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.plugin;

public interface ServicesManager {
    <T> void register(Class<T> service, T provider, Plugin plugin, ServicePriority priority);

    <T> T load(Class<T> service);

    void unregisterAll(Plugin plugin);
}
