/** The extension point `events`: what happened in the network, after it happened. It needs contract 1.1. */

import type { CallContext } from "network-hub-module";
import type { Effect } from "./effects.ts";

/** A call of a module, as the cause of another. */
export interface Cause {
  callId: string;
  /** The event it handled; `null` if it handled none. */
  eventId: string | null;
  /** Its module's name and version. */
  module: string;
  version: number;
}

/** The context of a handler's call. */
export interface HandlerContext extends CallContext {
  /** The module's version under its name; 0 while it has none. */
  version: number;
  /** The number of this attempt, from 1. All attempts have the same `seed`. */
  attempt: number;
  /** The call of a module that caused what is handled; `null` if none did. */
  cause: Cause | null;
  /** Number of modules' calls that led to this one, at most 4. */
  depth: number;
  /** The event, tick or request with which that began. */
  rootId: string;
}

/** Something that happened. */
export interface Event<Data = Record<string, unknown>> {
  /** Opaque and unique in the network; the same for all modules and attempts. */
  id: string;
  /** Its type, such as `BALANCE_CHANGED`. */
  type: string;
  /** Its time. */
  at: number;
  /** The key of its order, such as the player's UUID. */
  key: string;
  /** The player it is about. {@link player} returns it or rejects the event. */
  playerUuid: string | null;
  playerName: string | null;
  /** The server it is about, or on which its player was. */
  serverId: string | null;
  /** The fields of its type, as on streams. */
  data: Data;
}

/** Handles events: `export const events: Events = { handle(context, event) { … } }`. */
export interface Events {
  /**
   * Handles one event of the types that `module.toml` names. Throw a {@link Retry} to be called again later, a
   * {@link Reject} for an event that never can be handled. A `HostError` that is not caught is one of both. Nothing of the
   * call is kept then.
   */
  handle(context: HandlerContext, event: Event): Effect[];
}

/** Thrown by a handler to be called again later, 8 times in all. The reason has up to 1,024 characters. */
export class Retry extends Error {
  override readonly name = "Retry";
}

/** Thrown by a handler for what never can be handled: a dead letter at once. The reason has up to 1,024 characters. */
export class Reject extends Error {
  override readonly name = "Reject";
}

/** UUID of the player that an event is about. Throws a {@link Reject} if it is about none. */
export function player(event: Event): string {
  if (event.playerUuid === null) throw new Reject(`${event.type} is about no player`);
  return event.playerUuid;
}
