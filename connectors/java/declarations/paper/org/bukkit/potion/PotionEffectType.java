// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.potion;

import org.bukkit.NamespacedKey;

public class PotionEffectType {
    private final NamespacedKey key;

    protected PotionEffectType(NamespacedKey key) {
        this.key = key;
    }

    public static PotionEffectType getByKey(NamespacedKey key) {
        return key.toString().endsWith(":unknown") ? null : new PotionEffectType(key);
    }

    public NamespacedKey getKey() {
        return key;
    }
}
