// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit;

import io.papermc.paper.threadedregions.scheduler.GlobalRegionScheduler;
import java.util.Collection;
import java.util.Iterator;
import java.util.UUID;
import java.util.function.Consumer;
import net.kyori.adventure.audience.Audience;
import net.kyori.adventure.text.Component;
import org.bukkit.advancement.Advancement;
import org.bukkit.command.CommandMap;
import org.bukkit.command.CommandSender;
import org.bukkit.entity.Player;
import org.bukkit.plugin.PluginManager;
import org.bukkit.plugin.ServicesManager;
import org.bukkit.plugin.messaging.Messenger;
import org.bukkit.plugin.messaging.PluginMessageRecipient;

public interface Server extends PluginMessageRecipient, Audience {
    String getName();

    String getVersion();

    String getMinecraftVersion();

    int getPort();

    int getMaxPlayers();

    boolean getOnlineMode();

    Collection<? extends Player> getOnlinePlayers();

    Player getPlayer(UUID player);

    PluginManager getPluginManager();

    ServicesManager getServicesManager();

    Messenger getMessenger();

    CommandMap getCommandMap();

    GlobalRegionScheduler getGlobalRegionScheduler();

    CommandSender createCommandSender(Consumer<? super Component> feedback);

    Iterator<Advancement> advancementIterator();

    boolean dispatchCommand(CommandSender sender, String command);
}
