// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit;

import java.util.UUID;

public interface OfflinePlayer {
    UUID getUniqueId();

    String getName();
}
