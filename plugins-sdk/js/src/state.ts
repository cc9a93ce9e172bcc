/**
 * The state of this module in this network, which is committed with the effects of its calls: all or nothing. It needs
 * contract 1.1.
 *
 * Keys have 1 to 256 bytes, values up to 64 KiB. Each function is one of the call's host calls to data, and throws a
 * `HostError` if the hub cannot answer. Writes are seen by the same call; together they have up to 256 KiB. Calls behave as
 * though they ran one after the other: where something that a call read has changed when it ends, it runs again.
 * {@link increment} reads nothing.
 *
 * Overrides may read it, and have `network-hub-module/store` for their own writes.
 */

import state from "network-hub:module/state";
import { ask } from "./host.ts";

/** A key and its value. */
export interface Entry {
  key: string;
  value: string;
}

/** The value of a key; `null` if it was never set, has been deleted or has expired. */
export const get = (key: string): string | null => ask(() => state.get(key));

/** The values of 1 to 32 keys, in their order. */
export const getMany = (keys: string[]): (string | null)[] => ask(() => state.getMany(keys));

/** The entries whose keys begin with `prefix` and come after `after`, in the order of the keys' bytes: 1 to 100. */
export const list = (
  prefix: string,
  { after = null, limit = 100 }: { after?: string | null; limit?: number } = {},
): Entry[] => ask(() => state.list(prefix, after, limit));

/** Sets a key. With `ttlMs` (1 or more) it expires that long after the call's `nowMs`, without it never. */
export const set = (key: string, value: string, ttlMs?: number): void => ask(() => state.set(key, value, ttlMs ?? null));

/**
 * Adds to the whole number stored under a key. A missing key counts as 0 and is created with `ttlMs`; the expiry of a key
 * that exists stays. A value that is no number fails the call at its end.
 */
export const increment = (key: string, by = 1, ttlMs?: number): void =>
  ask(() => state.increment(key, by, ttlMs ?? null));

/** Deletes a key, if it is there. */
export const remove = (key: string): void => ask(() => state.delete(key));
