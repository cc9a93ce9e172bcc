// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.potion;

public class PotionEffect {
    private final PotionEffectType type;
    private final int duration;
    private final int amplifier;
    private final boolean isAmbient;
    private final boolean hasParticles;
    private final boolean hasIcon;

    public PotionEffect(PotionEffectType type, int duration, int amplifier, boolean ambient, boolean particles, boolean icon) {
        this.type = type;
        this.duration = duration;
        this.amplifier = amplifier;
        isAmbient = ambient;
        hasParticles = particles;
        hasIcon = icon;
    }

    public PotionEffectType getType() {
        return type;
    }

    public int getDuration() {
        return duration;
    }

    public int getAmplifier() {
        return amplifier;
    }

    public boolean isAmbient() {
        return isAmbient;
    }

    public boolean hasParticles() {
        return hasParticles;
    }

    public boolean hasIcon() {
        return hasIcon;
    }
}
