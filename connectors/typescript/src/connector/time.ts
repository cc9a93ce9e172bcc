import { HubError } from "../errors.js";
import { delayAfter, sleep } from "../retry.js";

const DELAYS = { firstDelayMs: 500, maxDelayMs: 5_000 };

/** Milliseconds of a clock that nobody sets. */
export function now(): number {
  return performance.now();
}

/** The call's first answer that is no transient error, or its last error when the time is up or the signal is given. */
export async function persist<T>(call: () => Promise<T>, patienceMs: number, stopped: AbortSignal): Promise<T> {
  const deadline = now() + patienceMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (thrown) {
      if (!(thrown instanceof HubError) || !thrown.isTransient) throw thrown;
      const delay = thrown.retryAfterMs ?? delayAfter(attempt, DELAYS);
      if (now() + delay >= deadline) throw thrown;
      await sleep(delay, stopped);
      if (stopped.aborted) throw thrown;
    }
  }
}

/** The hub's time, by its pings: a server's own clock may be wrong by more than a command is good for. */
export class HubClock {
  private offsets: number[] = [];

  /** A ping that was sent at this time came just now. */
  ping(sentAt: number): void {
    this.offsets = [...this.offsets, sentAt - Date.now()].slice(-4);
  }

  /** Milliseconds since the epoch. The least delayed ping is the most exact. */
  now(): number {
    return Date.now() + (this.offsets.length > 0 ? Math.max(...this.offsets) : 0);
  }
}
