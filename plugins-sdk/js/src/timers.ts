/**
 * Timers: calls at times that effects set, by `setTimer`. They are served at the extension point `schedules`, and
 * `module.toml` declares them: `timers = true`. They need contract 1.1.
 */

import type { Effect } from "./effects.ts";
import type { HandlerContext } from "./events.ts";

export { Reject, Retry } from "./events.ts";

/** A timer that is due. */
export interface Timer {
  /** Its key: 1 to 128 characters. */
  key: string;
  /** Time for which it was set, in milliseconds since 1970. */
  at: number;
  /** The payload that it was set with, maybe by another version of the module. */
  payload: Record<string, unknown>;
}

/** Runs timers: `export const timers: Timers = { fire(context, timer) { … } }`. */
export interface Timers {
  /**
   * Runs one timer. Those of one key run one after the other. Throw a {@link Retry} to be called again later, 8 times
   * in all, a {@link Reject} for a timer that never can succeed. A `HostError` that is not caught is one of both.
   * Nothing of the call is kept then.
   */
  fire(context: HandlerContext, timer: Timer): Effect[];
}
