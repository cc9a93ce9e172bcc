/**
 * Write modules for a Network Hub in TypeScript or JavaScript.
 *
 * Times are milliseconds since 1970 (UTC), durations milliseconds, UUIDs text in lower case with
 * hyphens. Unknown or inapplicable values are `null`. Whole numbers are exact up to 2^53.
 */

/** The context of a call. */
export interface CallContext {
  /** Id of this call in the hub's records and logs. */
  callId: string;
  /** Network of this call. */
  networkId: string;
  /** The time of the call, also returned by `Date.now()`. It stands still while the call runs. */
  nowMs: number;
  /** A random number from 0 to 2^64 chosen by the hub for this call, rounded; `Math.random()` is derived from it. */
  seed: number;
  /** The module's configuration as the text of one JSON object. {@link config} reads it. */
  config: string;
}

/** A player by identity. */
export interface PlayerRef {
  uuid: string;
  name: string;
}

/** The four kinds of punishment. A kick is momentary: it is recorded and never active. */
export type PunishmentKind = "ban" | "mute" | "warn" | "kick";

/** Reason for the failure of a host function. */
export type HostErrorTag = "invalid" | "quota-exceeded" | "unavailable" | "forbidden";

/** Thrown if a host function could not answer. Most modules should treat the data as absent. */
export class HostError extends Error {
  constructor(
    /** `invalid`: an argument the hub can't accept. `quota-exceeded`: the store is full. `unavailable`: the hub could
     * not reach its data in time. `forbidden`: a scope for reading is not granted. */
    readonly tag: HostErrorTag,
    message: string,
  ) {
    super(message);
    this.name = "HostError";
  }
}

/**
 * The module's configuration: the defaults, with what its owner configured over them.
 *
 * An unknown field or one of another type than its default throws, which ends the call as failed and tells the owner
 * in the log. Give every field a default: in the trial call at upload nothing is configured.
 */
export function config<T extends object>(context: CallContext, defaults: T): T {
  const given = JSON.parse(context.config) as Record<string, unknown>;
  for (const [field, value] of Object.entries(given)) {
    const standard: unknown = (defaults as Record<string, unknown>)[field];
    if (standard === undefined) {
      throw new Error(`the module's configuration is wrong: unknown field \`${field}\``);
    }
    if (standard !== null && kind(value) !== kind(standard)) {
      throw new Error(`the module's configuration is wrong: \`${field}\` must be of type ${kind(standard)}`);
    }
  }
  return { ...defaults, ...given };
}

function kind(value: unknown): string {
  return Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
}
