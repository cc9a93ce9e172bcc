// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.plugin;

public enum ServicePriority {
    Lowest, Low, Normal, High, Highest
}
