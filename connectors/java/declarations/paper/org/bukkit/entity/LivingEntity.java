// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.entity;

import java.util.Collection;
import org.bukkit.potion.PotionEffect;
import org.bukkit.potion.PotionEffectType;

public interface LivingEntity extends Damageable {
    Collection<PotionEffect> getActivePotionEffects();

    boolean addPotionEffect(PotionEffect effect);

    void removePotionEffect(PotionEffectType type);
}
