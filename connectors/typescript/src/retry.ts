/**
 * Policy for calls that may be repeated: how often they are made, and how far apart. The wait doubles with each attempt and is
 * random between half and all of it, so that many servers do not come at once after an outage.
 */
export interface RetryPolicy {
  /** Maximum number of attempts of a call; 1 never repeats it. */
  readonly attempts: number;
  /** The wait after the first attempt. */
  readonly firstDelayMs: number;
  /** No wait is longer; where the hub asks for more, the call fails and the error says for how much. */
  readonly maxDelayMs: number;
}

/** Four attempts, after 250 ms, 500 ms and 1 s. */
export const DEFAULT_RETRIES: RetryPolicy = { attempts: 4, firstDelayMs: 250, maxDelayMs: 5_000 };

/** Each call once. */
export const NO_RETRIES: RetryPolicy = { ...DEFAULT_RETRIES, attempts: 1 };

/** The wait after so many failures in a row, from 1. */
export function delayAfter(failures: number, policy: Pick<RetryPolicy, "firstDelayMs" | "maxDelayMs">): number {
  const most = Math.min(policy.firstDelayMs * 2 ** (Math.min(failures, 30) - 1), policy.maxDelayMs);
  return most * (0.5 + Math.random() / 2);
}

/** Waits; a signal ends the wait early. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
  });
}
