// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit;

public enum Material {
    AIR, DIAMOND, SHULKER_BOX, LEGACY_STONE;

    public boolean isAir() {
        return this == AIR;
    }

    public boolean isBlock() {
        return this == AIR || this == SHULKER_BOX;
    }

    public boolean isItem() {
        return this != LEGACY_STONE;
    }

    public boolean isLegacy() {
        return this == LEGACY_STONE;
    }
}
