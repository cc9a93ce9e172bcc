/**
 * The extension point `economy`: changes of balances that connectors ask for, before they are made. It needs contract
 * 1.1. Amounts are units of the currency, with up to four decimals.
 */

import type { CallContext } from "network-hub-module";
import type { Operation } from "./effects.ts";

/** A change of balances. */
export interface Change {
  /** `modify`: one operation, which may be amended. `transaction`: all of them or none, accepted or refused. */
  kind: "modify" | "transaction";
  /** With the amendments of the modules before in the chain. {@link single} finds that of a `modify`. */
  operations: Operation[];
  /** Reason for the ledger. */
  reason: string | null;
  /** The server for which it is made; `null` if it is not known. */
  serverId: string | null;
}

/** The module's answer. {@link accept}, {@link amend} and {@link refuse} make one. */
export type Decision = { tag: "accept" } | { tag: "amend"; val: number } | { tag: "refuse"; val: string };

/** Decides about changes of balances: `export const economy: Economy = { review(context, change) { … } }`. */
export interface Economy {
  /** Decides about one request of a connector. The first refusal of the chain ends it: 400 `change_rejected`. */
  review(context: CallContext, change: Change): Decision;
}

/** The operation of a `modify`, which alone may be amended; `null` of a transaction. */
export const single = ({ kind, operations }: Change): Operation | null =>
  kind === "modify" ? operations[0] ?? null : null;

/** Makes it unchanged. */
export const accept = (): Decision => ({ tag: "accept" });

/** Makes it with this amount instead: of the same sign, and not 0. For a `modify` alone. */
export const amend = (amount: number): Decision => ({ tag: "amend", val: amount });

/** Refuses it for this reason: 1 to 256 characters. */
export const refuse = (reason: string): Decision => ({ tag: "refuse", val: reason });
