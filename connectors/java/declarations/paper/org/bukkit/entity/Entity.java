// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.entity;

import io.papermc.paper.threadedregions.scheduler.EntityScheduler;
import org.bukkit.Server;
import org.bukkit.command.CommandSender;

public interface Entity extends CommandSender {
    Server getServer();

    EntityScheduler getScheduler();
}
