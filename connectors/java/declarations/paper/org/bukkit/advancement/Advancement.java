// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.advancement;

import org.bukkit.NamespacedKey;

public interface Advancement {
    NamespacedKey getKey();
}
