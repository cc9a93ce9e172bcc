/** The extension point `chat`: every line of the network's chat, before it is shown. */

import type { CallContext, PlayerRef } from "network-hub-module";

/** A line, original or rewritten by the previous module of the chain. */
export interface Line {
  player: PlayerRef;
  /** 1 to 1,024 characters without control characters. */
  message: string;
  serverId: string;
  serverType: string;
  world: string | null;
  /** The rank shown before the player's name. */
  rank: string | null;
}

/** A mute for the sender, from now on. */
export interface Mute {
  /** 1 ms to 10 years. */
  durationMs: number;
  /** 1 to 256 characters. */
  reason: string;
}

/** The module's answer. {@link allow}, {@link rewrite} and {@link refuse} make one. */
export interface Verdict {
  decision: { tag: "allow" } | { tag: "rewrite"; val: string } | { tag: "refuse"; val: string };
  /** Mutes the sender, regardless of the decision about the line. */
  mute: Mute | null;
}

/** Decides about chat lines: `export const chat: Chat = { filter(context, line) { … } }`. */
export interface Chat {
  filter(context: CallContext, line: Line): Verdict;
}

/** Sends the line unchanged. */
export const allow = (mute: Mute | null = null): Verdict => ({ decision: { tag: "allow" }, mute });

/** Sends the line with this text: 1 to 1,024 characters without control characters. */
export const rewrite = (message: string, mute: Mute | null = null): Verdict => ({
  decision: { tag: "rewrite", val: message },
  mute,
});

/** Refuses the line and shows its sender the reason: 1 to 256 characters. */
export const refuse = (reason: string, mute: Mute | null = null): Verdict => ({
  decision: { tag: "refuse", val: reason },
  mute,
});
