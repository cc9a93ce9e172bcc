// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.event.entity;

import org.bukkit.entity.LivingEntity;
import org.bukkit.event.Cancellable;

public class EntityPickupItemEvent extends EntityEvent implements Cancellable {
    private boolean isCancelled;

    public EntityPickupItemEvent(LivingEntity entity) {
        super(entity);
    }

    @Override
    public LivingEntity getEntity() {
        return (LivingEntity) super.getEntity();
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
