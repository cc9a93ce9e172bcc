// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package io.papermc.paper.threadedregions.scheduler;

import org.bukkit.plugin.Plugin;

public interface GlobalRegionScheduler {
    void execute(Plugin plugin, Runnable task);
}
