/**
 * A key-value store that belongs to this module in this network, and outlives the call.
 *
 * Keys have 1 to 256 bytes, values up to 64 KiB. Each function is one of the call's 8 host calls to data, and throws a
 * `HostError` if the hub cannot answer. Two calls of a module may run at once, so count with {@link increment}.
 */

import store from "network-hub:module/store";
import { ask } from "./host.ts";

/** The value of a key; `null` if it was never set, has been deleted or has expired. */
export const get = (key: string): string | null => ask(() => store.get(key));

/** Sets a key. With `ttlMs` (1 or more) it expires after that time, without it never. */
export const set = (key: string, value: string, ttlMs?: number): void => ask(() => store.set(key, value, ttlMs ?? null));

/**
 * Adds to the whole number stored under a key and returns the sum. A missing key counts as 0 and is created with
 * `ttlMs`; the expiry of a key that exists stays, which makes this a counter over a fixed window.
 */
export const increment = (key: string, by = 1, ttlMs?: number): number =>
  ask(() => store.increment(key, by, ttlMs ?? null));

/** Deletes a key; `false` if it did not exist. */
export const remove = (key: string): boolean => ask(() => store.delete(key));
