import type { EndReason, NamespacedData, PlayerDataHandler } from "network-hub-connector";

/** Counts of items, which are there from `apply` until the player leaves or has to be frozen. */
export class Inventories implements PlayerDataHandler {
  readonly namespaces = ["inventory"];
  readonly held = new Map<string, Record<string, number>>();
  readonly applied: Record<string, number>[] = [];
  readonly endings: EndReason[] = [];

  constructor(readonly autosaveMs = 60_000) {}

  apply(player: string, data: NamespacedData): void {
    const items = { ...(data.inventory as Record<string, number> | undefined) };
    this.held.set(player, items);
    this.applied.push({ ...items });
  }

  capture(player: string): NamespacedData {
    return { inventory: this.of(player) };
  }

  ended(player: string, reason: EndReason): void {
    this.endings.push(reason);
    this.held.delete(player);
  }

  of(player: string): Record<string, number> {
    const items = this.held.get(player);
    if (items === undefined) throw new Error("the player is not here");
    return items;
  }

  give(player: string, item: string): void {
    const items = this.of(player);
    items[item] = (items[item] ?? 0) + 1;
  }
}
