package networkhub.platform;

import networkhub.plugin.HubPlugin;
import org.bukkit.entity.Entity;
import org.bukkit.entity.Player;
import org.bukkit.event.Cancellable;
import org.bukkit.event.EventHandler;
import org.bukkit.event.EventPriority;
import org.bukkit.event.Listener;
import org.bukkit.event.block.BlockBreakEvent;
import org.bukkit.event.block.BlockPlaceEvent;
import org.bukkit.event.entity.EntityDamageEvent;
import org.bukkit.event.entity.EntityPickupItemEvent;
import org.bukkit.event.entity.FoodLevelChangeEvent;
import org.bukkit.event.inventory.InventoryClickEvent;
import org.bukkit.event.inventory.InventoryDragEvent;
import org.bukkit.event.inventory.InventoryOpenEvent;
import org.bukkit.event.player.PlayerCommandPreprocessEvent;
import org.bukkit.event.player.PlayerDropItemEvent;
import org.bukkit.event.player.PlayerInteractEvent;
import org.bukkit.event.player.PlayerItemConsumeEvent;
import org.bukkit.event.player.PlayerSwapHandItemsEvent;

/** While a player's data is not here, nothing of it changes: no moving of items, no drops, no damage, no commands. */
public final class PaperFreeze implements Listener {
    private final HubPlugin hub;

    PaperFreeze(HubPlugin hub) {
        this.hub = hub;
    }

    private void freeze(Entity entity, Cancellable event) {
        if (entity instanceof Player player && hub.isFrozen(player.getUniqueId())) event.setCancelled(true);
    }

    /** Items in an inventory. */
    @EventHandler(priority = EventPriority.LOWEST)
    public void onClick(InventoryClickEvent event) {
        freeze(event.getWhoClicked(), event);
    }

    /** The same. */
    @EventHandler(priority = EventPriority.LOWEST)
    public void onDrag(InventoryDragEvent event) {
        freeze(event.getWhoClicked(), event);
    }

    /** Chests, ender chests. */
    @EventHandler(priority = EventPriority.LOWEST)
    public void onOpen(InventoryOpenEvent event) {
        freeze(event.getPlayer(), event);
    }

    /** Items to the ground. */
    @EventHandler(priority = EventPriority.LOWEST)
    public void onDrop(PlayerDropItemEvent event) {
        freeze(event.getPlayer(), event);
    }

    /** Items from the ground. */
    @EventHandler(priority = EventPriority.LOWEST)
    public void onPickup(EntityPickupItemEvent event) {
        freeze(event.getEntity(), event);
    }

    /** Items from one hand to the other. */
    @EventHandler(priority = EventPriority.LOWEST)
    public void onSwap(PlayerSwapHandItemsEvent event) {
        freeze(event.getPlayer(), event);
    }

    /** Items that are used up. */
    @EventHandler(priority = EventPriority.LOWEST)
    public void onConsume(PlayerItemConsumeEvent event) {
        freeze(event.getPlayer(), event);
    }

    /** Items that are used. */
    @EventHandler(priority = EventPriority.LOWEST)
    public void onInteract(PlayerInteractEvent event) {
        freeze(event.getPlayer(), event);
    }

    /** Blocks that become items. */
    @EventHandler(priority = EventPriority.LOWEST)
    public void onBreak(BlockBreakEvent event) {
        freeze(event.getPlayer(), event);
    }

    /** Items that become blocks. */
    @EventHandler(priority = EventPriority.LOWEST)
    public void onPlace(BlockPlaceEvent event) {
        freeze(event.getPlayer(), event);
    }

    /** Damage, which would take health and items. */
    @EventHandler(priority = EventPriority.LOWEST)
    public void onDamage(EntityDamageEvent event) {
        freeze(event.getEntity(), event);
    }

    /** Hunger. */
    @EventHandler(priority = EventPriority.LOWEST)
    public void onHunger(FoodLevelChangeEvent event) {
        freeze(event.getEntity(), event);
    }

    /** Commands, which could change anything. */
    @EventHandler(priority = EventPriority.LOWEST)
    public void onCommand(PlayerCommandPreprocessEvent event) {
        freeze(event.getPlayer(), event);
    }
}
