/** The extension point `queue`: each new ticket of a waiting line. It needs contract 1.1. */

import type { CallContext, PlayerRef } from "network-hub-module";

/** A new ticket. */
export interface Ticket {
  /** The player, or the leader of a party. */
  player: PlayerRef;
  /** The other members of the party. */
  members: PlayerRef[];
  /** Type of the servers it waits for; empty if its server is not online. */
  serverType: string;
  /** Type of the worlds it waits for; `null` if it waits for none. */
  worldType: string | null;
  /** The player's region, such as `EUROPE`; `null` if it is not known, or regions are ignored. */
  region: string | null;
}

/** The module's answer. {@link admit} and {@link refuse} make one. */
export type Decision = { tag: "admit"; val: number } | { tag: "refuse"; val: string };

/** Decides about new tickets: `export const queue: Queue = { place(context, ticket) { … } }`. */
export interface Queue {
  /** Decides about one ticket. The priorities of the chain's modules add up; its first refusal ends both. */
  place(context: CallContext, ticket: Ticket): Decision;
}

/** Lets it wait with this priority: a whole number from -1000 to 1000, the highest first. */
export const admit = (priority = 0): Decision => ({ tag: "admit", val: priority });

/** Refuses it for this reason: 1 to 256 characters. */
export const refuse = (reason: string): Decision => ({ tag: "refuse", val: reason });
