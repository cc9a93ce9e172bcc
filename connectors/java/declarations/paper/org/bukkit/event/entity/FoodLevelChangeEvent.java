// Compile-only declaration of a part of Paper's API, written for this project; never in a jar.
package org.bukkit.event.entity;

import org.bukkit.entity.HumanEntity;
import org.bukkit.event.Cancellable;

public class FoodLevelChangeEvent extends EntityEvent implements Cancellable {
    private boolean isCancelled;

    public FoodLevelChangeEvent(HumanEntity entity) {
        super(entity);
    }

    @Override
    public HumanEntity getEntity() {
        return (HumanEntity) super.getEntity();
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
