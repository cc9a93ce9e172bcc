// Compile-only declaration of a part of PlaceholderAPI's API, written for this project; never in a jar.
package me.clip.placeholderapi;

import org.bukkit.OfflinePlayer;

public abstract class PlaceholderHook {
    public String onRequest(OfflinePlayer player, String name) {
        throw new UnsupportedOperationException();
    }
}
