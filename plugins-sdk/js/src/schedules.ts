/**
 * The extension point `schedules`: times that `module.toml` lists. Timers belong to it, too: see
 * `network-hub-module/timers`. It needs contract 1.1.
 */

import type { Effect } from "./effects.ts";
import type { HandlerContext } from "./events.ts";

export { Reject, Retry } from "./events.ts";

/** A tick of a schedule. */
export interface Tick {
  /** Name of the schedule in `module.toml`. */
  schedule: string;
  /** Time at which it was due, which may lie in the past, in milliseconds since 1970. */
  dueAt: number;
  /** Number of ticks that were missed before this one and are not made up for. */
  missed: number;
  /** True if somebody of the network's staff asked for it. */
  manual: boolean;
}

/** Runs the ticks of schedules: `export const schedules: Schedules = { tick(context, tick) { … } }`. */
export interface Schedules {
  /**
   * Runs one tick of a schedule that `module.toml` lists. The next one does not begin before it has ended. Throw a
   * {@link Retry} to be called again, 3 times in all, a {@link Reject} for a tick that never can succeed. A `HostError`
   * that is not caught is one of both. Nothing of the call is kept then.
   */
  tick(context: HandlerContext, tick: Tick): Effect[];
}
