import { describe } from "../errors.js";
import type { Logger } from "../logger.js";
import { persist } from "./time.js";

/**
 * Players whose cached state has to be read again. One at a time, so that a change that concerns everybody is no rush of
 * requests.
 */
export class RefreshQueue {
  private readonly waiting = new Set<string>();
  private isBusy = false;

  constructor(
    private readonly refresh: (player: string) => Promise<unknown>,
    private readonly stopped: AbortSignal,
    private readonly log: Logger,
  ) {}

  add(player: string): void {
    this.waiting.add(player);
    if (!this.isBusy) void this.run();
  }

  addAll(players: Iterable<string>): void {
    for (const player of players) this.add(player);
  }

  private async run(): Promise<void> {
    this.isBusy = true;
    for (const player of this.waiting) {
      this.waiting.delete(player);
      await persist(() => this.refresh(player), Infinity, this.stopped).catch((error: unknown) => {
        this.log.warn(`Reading the state of player ${player} failed: ${describe(error)}`);
      });
    }
    this.isBusy = false;
  }
}
