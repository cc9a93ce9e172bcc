// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit;

public enum Material {
    AIR, DIAMOND, SHULKER_BOX;

    public boolean isAir() {
        return this == AIR;
    }
}
