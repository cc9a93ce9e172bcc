// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.entity;

public interface Damageable extends Entity {
    double getHealth();

    void setHealth(double health);

    double getMaxHealth();
}
