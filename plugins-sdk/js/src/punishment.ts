/** The extension point `punishment`: every punishment, before it is made. */

import type { CallContext, PunishmentKind } from "network-hub-module";

/** Kind, duration and reason of a punishment. */
export interface Terms {
  kind: PunishmentKind;
  /** `null` is permanent. In an answer: 1 ms to 10 years, or what was proposed. */
  durationMs: number | null;
  /** In an answer: up to 256 characters without control characters, or what was proposed. */
  reason: string;
}

/** A proposed punishment. */
export interface Proposal {
  /** `null` for a punishment by name alone, or of an address alone. */
  playerUuid: string | null;
  playerName: string | null;
  /** As proposed, or as the module before this one in the chain amended it. */
  terms: Terms;
  /** Whether it covers the player's address too. */
  ipBased: boolean;
  /** `null` where the console or the hub itself punishes. */
  issuerUuid: string | null;
  issuerName: string | null;
}

/** The module's answer. {@link accept}, {@link amend} and {@link refuse} make one. */
export interface Verdict {
  decision: { tag: "accept" } | { tag: "amend"; val: Terms } | { tag: "refuse"; val: string };
  /** Further punishments for the same player, at most 8, made after this one and not reviewed again. */
  followUps: Terms[];
}

/** Reviews punishments: `export const punishment: Punishment = { review(context, proposal) { … } }`. */
export interface Punishment {
  review(context: CallContext, proposal: Proposal): Verdict;
}

/** The punishment is made as proposed. */
export const accept = (followUps: Terms[] = []): Verdict => ({ decision: { tag: "accept" }, followUps });

/** The punishment is made on these terms instead. */
export const amend = (terms: Terms, followUps: Terms[] = []): Verdict => ({
  decision: { tag: "amend", val: terms },
  followUps,
});

/** The punishment is not made, and its issuer is told the reason: 1 to 256 characters. */
export const refuse = (reason: string): Verdict => ({ decision: { tag: "refuse", val: reason }, followUps: [] });
