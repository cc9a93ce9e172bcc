import { HostError, type HostErrorTag } from "network-hub-module";

const MESSAGES = {
  invalid: "an argument is not acceptable",
  "quota-exceeded": "the module's key-value store is full",
  unavailable: "the hub could not reach its data in time",
  forbidden: "a scope for reading is not granted",
};

/** Calls a host function; its exceptions are turned into a {@link HostError}. */
export function ask<T>(call: () => T): T {
  try {
    return call();
  } catch (thrown) {
    // The engine wraps the contract's error in an error of its own.
    const error = (thrown as { payload?: { tag?: HostErrorTag; val?: string } }).payload;
    if (error?.tag === undefined) throw thrown;
    throw new HostError(error.tag, error.val ?? MESSAGES[error.tag]);
  }
}
