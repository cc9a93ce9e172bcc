import { randomUUID } from "node:crypto";
import { now } from "./time.js";

/** Something a player did that the hub has to learn. */
export type PlayerChange = (
  | { readonly kind: "JOIN"; readonly name: string }
  | { readonly kind: "WORLD"; readonly world: string; readonly previousWorld: string | undefined }
  | { readonly kind: "LEAVE" }
) & {
  readonly player: string;
  readonly madeAt: number;
  /** Idempotency key: repeats are one change. A refusal is kept with its key, too: after one, the change needs another. */
  key: string;
};

/** The facts of a new change. */
export function change<T extends object>(player: string, facts: T): T & { player: string; madeAt: number; key: string } {
  return { ...facts, player, madeAt: now(), key: randomUUID() };
}

/**
 * The changes of players that the hub has not confirmed, in the order they happened. They stay until it does, however long it
 * is away.
 */
export class PlayerOutbox {
  private changes: PlayerChange[] = [];

  constructor(private readonly capacity: number) {}

  /** Adds a change. Returns the number of those dropped to make room: visits that are over, and changes of worlds. */
  add(change: PlayerChange): number {
    // Of several changes of world in a row the last one counts; the first one of all may be under way.
    const last = this.changes.at(-1);
    if (change.kind === "WORLD" && this.changes.length > 1 && last?.kind === "WORLD" && last.player === change.player) {
      this.changes.pop();
    }
    this.changes.push(change);
    return this.changes.length > this.capacity ? this.dropFinishedVisits() : 0;
  }

  get first(): PlayerChange | undefined {
    return this.changes[0];
  }

  get size(): number {
    return this.changes.length;
  }

  concerns(player: string): boolean {
    return this.changes.some((change) => change.player === player);
  }

  /** Removes a change that the hub has confirmed or refused. */
  remove(change: PlayerChange): void {
    this.changes = this.changes.filter((each) => each !== change);
  }

  /** The leave that ends the visit which begins with this join; undefined while the player is here. */
  endOf(join: PlayerChange): PlayerChange | undefined {
    const later = this.changes.slice(this.changes.indexOf(join) + 1);
    return later.find((change) => change.kind === "LEAVE" && change.player === join.player);
  }

  /** Removes everything a player did from one change to another. */
  removeVisit(join: PlayerChange, leave: PlayerChange): void {
    const [from, to] = [this.changes.indexOf(join), this.changes.indexOf(leave)];
    this.changes = this.changes.filter((change, at) => at < from || at > to || change.player !== join.player);
  }

  private dropFinishedVisits(): number {
    const before = this.changes.length;
    const dropped = new Set<PlayerChange>();
    const joins = new Map<string, PlayerChange>();
    // The first one may be under way.
    for (const change of this.changes.slice(1)) {
      const join = joins.get(change.player);
      if (change.kind === "WORLD") dropped.add(change);
      else if (change.kind === "JOIN") joins.set(change.player, change);
      else if (join !== undefined) {
        dropped.add(join).add(change);
        joins.delete(change.player);
      }
    }
    this.changes = this.changes.filter((change) => !dropped.has(change));
    return before - this.changes.length;
  }
}
