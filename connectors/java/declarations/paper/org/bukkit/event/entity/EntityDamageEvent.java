// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.event.entity;

import org.bukkit.entity.Entity;
import org.bukkit.event.Cancellable;

public class EntityDamageEvent extends EntityEvent implements Cancellable {
    private boolean isCancelled;

    public EntityDamageEvent(Entity entity) {
        super(entity);
    }

    @Override
    public boolean isCancelled() {
        return isCancelled;
    }

    @Override
    public void setCancelled(boolean cancel) {
        isCancelled = cancel;
    }
}
