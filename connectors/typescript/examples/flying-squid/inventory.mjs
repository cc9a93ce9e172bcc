// Inventories, which move with their players from server to server.
import itemOf from "prismarine-item";

/** Reads and writes the inventories of a server's players, by their ids. */
export function inventories(minecraft, players) {
  const Item = itemOf(minecraft.registry);
  const slotsOf = (player) => player.inventory.slots;
  const clear = (player) => slotsOf(player).forEach((item, slot) => item && player.inventory.updateSlot(slot, null));

  return {
    namespaces: ["inventory"],
    autosaveMs: 10_000,
    apply(uuid, { inventory = [] }) {
      const player = players.get(uuid);
      clear(player);
      for (const { slot, type, count, nbt } of inventory) player.inventory.updateSlot(slot, new Item(type, count, 0, nbt));
    },
    capture(uuid) {
      const items = slotsOf(players.get(uuid)).flatMap((item, slot) => (item ? [{ ...item, slot }] : []));
      return { inventory: items.map(({ slot, type, count, nbt }) => ({ slot, type, count, nbt })) };
    },
    /** The player is on another server already, or will be: what they hold here is no longer theirs. */
    ended(uuid) {
      const player = players.get(uuid);
      if (player !== undefined) clear(player);
    },
    /** Gives an item; throws if there is no room. */
    give(uuid, name) {
      const { inventory } = players.get(uuid);
      const { id } = minecraft.registry.itemsByName[name];
      const slot = inventory.slots.findIndex((item) => item && item.type === id && item.count < item.stackSize);
      const target = slot >= 0 ? slot : inventory.firstEmptyInventorySlot();
      if (target === null) throw new Error("the inventory is full");
      inventory.updateSlot(target, new Item(id, (inventory.slots[target]?.count ?? 0) + 1));
    },
  };
}
