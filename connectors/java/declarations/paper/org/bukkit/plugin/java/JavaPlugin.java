// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.plugin.java;

import java.io.File;
import java.util.logging.Logger;
import org.bukkit.Server;
import org.bukkit.plugin.Plugin;

public abstract class JavaPlugin implements Plugin {
    private Server server;
    private File folder;
    private Logger logger;

    /** Work of the server before it enables a plugin; not a part of the API. */
    public void init(Server server, File folder, Logger logger) {
        this.server = server;
        this.folder = folder;
        this.logger = logger;
    }

    @Override
    public String getName() {
        return "NetworkHub";
    }

    public final Server getServer() {
        return server;
    }

    public final File getDataFolder() {
        return folder;
    }

    public Logger getLogger() {
        return logger;
    }

    public void onEnable() {}

    public void onDisable() {}
}
