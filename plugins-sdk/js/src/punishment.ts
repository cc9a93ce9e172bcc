/** The extension point `punishment`: every punishment, before it is made. */

import type { CallContext, PunishmentKind } from "network-hub-module";

/** Kind, duration and reason of a punishment. */
export interface Terms {
  kind: PunishmentKind;
  /** `null` is permanent. In an answer: 1 ms to 10 years, or the proposed duration. */
  durationMs: number | null;
  /** In an answer: up to 256 characters without control characters, or the proposed reason. */
  reason: string;
}

/** A proposed punishment. */
export interface Proposal {
  /** `null` for a punishment by name alone, or of an address alone. */
  playerUuid: string | null;
  playerName: string | null;
  /** Proposed terms, with the amendments of earlier modules in the chain. */
  terms: Terms;
  /** True if it covers the player's address too. */
  ipBased: boolean;
  /** `null` for punishments by the console or the hub itself. */
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

/** Accepts the punishment as proposed. */
export const accept = (followUps: Terms[] = []): Verdict => ({ decision: { tag: "accept" }, followUps });

/** Accepts the punishment on these terms instead. */
export const amend = (terms: Terms, followUps: Terms[] = []): Verdict => ({
  decision: { tag: "amend", val: terms },
  followUps,
});

/** Refuses the punishment and shows its issuer the reason: 1 to 256 characters. */
export const refuse = (reason: string): Verdict => ({ decision: { tag: "refuse", val: reason }, followUps: [] });
