/** The extension point `login`: every player who joins, before they are let in. It needs contract 1.1. */

import type { CallContext, PlayerRef } from "network-hub-module";

/** A player who wants to join. */
export interface Attempt {
  /** Its name is empty if none is known. */
  player: PlayerRef;
  /** Tells addresses apart, within a day; `null` if the address is not known. */
  ipHash: string | null;
  /** The player's region, such as `EUROPE`; `UNKNOWN` if there is none. */
  region: string;
  /** The server that asks; empty if it is not known. */
  serverId: string;
  /** True if the network has never seen the player. */
  firstJoin: boolean;
}

/** A refusal. */
export interface Refusal {
  /** For the player: 1 to 256 characters. */
  reason: string;
  /** For connectors: 1 to 32 of `a-z 0-9 _ -`. */
  kind: string;
}

/** The module's answer. {@link allow} and {@link refuse} make one. */
export type Decision = { tag: "allow" } | { tag: "refuse"; val: Refusal };

/** Decides about players who join: `export const login: Login = { check(context, attempt) { … } }`. */
export interface Login {
  /** Decides about one player. The first refusal of the chain ends it. */
  check(context: CallContext, attempt: Attempt): Decision;
}

/** Lets the player in. */
export const allow = (): Decision => ({ tag: "allow" });

/** Keeps the player out: a reason for them (1 to 256 characters), a kind for connectors (1 to 32 of `a-z 0-9 _ -`). */
export const refuse = (reason: string, kind: string): Decision => ({ tag: "refuse", val: { reason, kind } });
