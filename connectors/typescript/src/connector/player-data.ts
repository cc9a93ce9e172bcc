import { setMaxListeners } from "node:events";
import type { HubClient } from "../client.js";
import { describe, HubError } from "../errors.js";
import type { Logger } from "../logger.js";
import { NO_RETRIES, sleep } from "../retry.js";
import { persist } from "./time.js";
import { Visit } from "./visit.js";

/** Data of a player by namespace: any JSON. */
export type NamespacedData = Readonly<Record<string, unknown>>;

/**
 * Reason why a player's data may no longer be changed here, though the player has not left. `REQUESTED`: another server has asked for the
 * player; what was captured is saved. `LOST`: another server has the player, or a person restored a snapshot; forget everything.
 * `REFUSED`: the hub refuses to open the session or to save.
 */
export type EndReason = "REQUESTED" | "LOST" | "REFUSED";

/** Reads and writes players in the game, so that their data moves with them. */
export interface PlayerDataHandler {
  /** The namespaces of the data, such as `inventory`; without any no session is opened. */
  readonly namespaces: readonly string[];
  /** Milliseconds between saves of a player, 60 s by default; 0: only when they leave. */
  readonly autosaveMs?: number;

  /**
   * Gives a player what is stored, without namespaces that were never written. Once for each session. The player is to be locked
   * from the join to here: no moves of items, drops, damage, commands.
   */
  apply(player: string, data: NamespacedData): void;

  /**
   * What a player has now, all that belongs together: at each autosave, when another server asks for the player, in `playerLeft`, and
   * in `stop`. Drop first what the player holds on the cursor.
   */
  capture(player: string): NamespacedData;

  /** A player who is still here may no longer be changed: lock them, until `apply` comes again or they leave. */
  ended?(player: string, reason: EndReason): void;
}

/** Fate of a claim: completed by the save, to be completed by itself, lost with its effect, or refused while the effect stays. */
export type ClaimOutcome = "SAVED" | "SEPARATE" | "LOST" | "REFUSED";

/** Parts of the connector that sessions need. */
export interface PlayerDataContext {
  readonly client: HubClient;
  readonly serverId: string;
  readonly gameMode: string | undefined;
  readonly gameType: string | undefined;
  readonly log: Logger;
}

const DEFAULT_AUTOSAVE_MS = 60_000;
const PROBE_MS = 300;

/**
 * Data of the players on this server, in sessions: the right to write it, which one server has at a time. A session is opened
 * when a player joins, and closed with a last save when they leave or another server asks for them. One that is lost is never saved.
 * While the hub is away saves wait and are repeated; none is made twice.
 */
export class PlayerDataStore {
  /** @internal */ readonly client: HubClient;
  /** @internal */ onOpen: (player: string) => void = () => {};
  /** @internal */ onClaims: (claims: readonly string[], outcome: ClaimOutcome) => void = () => {};
  private readonly visits = new Map<string, Visit>();
  /** The latest visit of each player, until it is over. */
  private readonly tails = new Map<string, Promise<void>>();
  private readonly stopped = new AbortController();
  private isAway = false;
  private probe: Promise<unknown> = Promise.resolve();

  /** @internal */
  constructor(
    readonly context: PlayerDataContext,
    readonly handler: PlayerDataHandler | undefined,
  ) {
    setMaxListeners(0, this.stopped.signal); // Any number of saves may wait for the hub.
    // Repeats are made here, where their order is known.
    this.client = context.client.with({ retry: NO_RETRIES });
  }

  /** True if sessions are opened: there is a handler, and a namespace. */
  get isEnabled(): boolean {
    return this.handler !== undefined && this.handler.namespaces.length > 0;
  }

  /** True from when a player's data was applied until they leave, or another server has them or asks for them. */
  isOpen(player: string): boolean {
    return this.visits.get(player)?.isOpen === true;
  }

  /** The fence of a player's open session, for writes of your own. */
  fence(player: string): number | undefined {
    const visit = this.visits.get(player);
    return visit?.isOpen === true ? visit.fence : undefined;
  }

  /** What a namespace of a player holds, by the last capture, `put` or read; undefined where there is nothing or no session. */
  get(player: string, namespace: string): unknown {
    const visit = this.visits.get(player);
    const text = visit?.isOpen === true ? visit.current.get(namespace) : undefined;
    return text === undefined ? undefined : JSON.parse(text);
  }

  /**
   * Sets what a namespace of a player holds; it is saved with the next save. For small documents of a plugin that captures no such
   * namespace. Throws `no_session` unless the session is open.
   */
  put(player: string, namespace: string, value: unknown): void {
    const visit = this.visits.get(player);
    if (visit?.isOpen !== true) throw noSession();
    visit.current.set(namespace, JSON.stringify(value));
  }

  /** Saves a player now; resolves when the hub has confirmed it. Fails with `no_session` or `stale_session`. */
  async save(player: string): Promise<void> {
    const visit = this.visits.get(player);
    if (visit === undefined || !visit.capture()) throw noSession();
    await visit.confirmed();
  }

  /** @internal Begins to save by itself. */
  start(): void {
    const interval = this.handler?.autosaveMs ?? DEFAULT_AUTOSAVE_MS;
    if (this.isEnabled && interval > 0) void this.saveAll(interval);
  }

  /** @internal Opens a session for a player. */
  joined(player: string, name: string): void {
    if (!this.isEnabled || this.visits.has(player)) return;
    const visit = new Visit(this, player, name, this.stopped.signal);
    this.visits.set(player, visit);
    const before = this.tails.get(player);
    const run = async () => {
      // The last save of the visit before is part of what this one reads.
      await before;
      await visit.run().catch((error: unknown) => this.warn(`The sessions of player ${player} failed: ${describe(error)}`));
    };
    const tail = run().finally(() => {
      if (this.tails.get(player) === tail) this.tails.delete(player);
    });
    this.tails.set(player, tail);
  }

  /** @internal Captures and closes. */
  leave(player: string): void {
    this.visits.get(player)?.leave();
    this.visits.delete(player);
  }

  /** @internal The server stops: captures all, and waits for the last saves. */
  async finish(patienceMs: number): Promise<void> {
    for (const player of [...this.visits.keys()]) this.leave(player);
    const patience = new AbortController();
    await Promise.race([Promise.all(this.tails.values()), sleep(patienceMs, patience.signal)]);
    patience.abort();
    this.stopped.abort();
    if (this.tails.size > 0) this.warn(`The data of ${this.tails.size} players could not be saved before the server stopped`);
  }

  /** @internal Another server asks for a player. */
  requested(player: string, fence: number): void {
    if (!this.isEnabled) return;
    const visit = this.visits.get(player);
    if (visit !== undefined) return visit.requested(fence);
    if (this.tails.has(player)) return;
    // Opened by a call whose answer was lost, or by a process before this one: nobody has anything to save.
    const close = () => this.client.players.saveSession(player, fence, { close: true });
    persist(close, 10_000, this.stopped.signal).catch((error: unknown) => {
      if (!HubError.is(error, "stale_session")) this.warn(`A session stays open: ${describe(error)}`);
    });
  }

  /** @internal A person ended a session. */
  sessionEnded(player: string, fence: number): void {
    const visit = this.visits.get(player);
    if (visit?.fence === fence) visit.lose();
  }

  /** @internal The visit of a player who is here. */
  visit(player: string): Visit | undefined {
    return this.visits.get(player);
  }

  /** @internal */
  warn(text: string): void {
    this.context.log.warn(text);
  }

  /**
   * @internal Sends saves one at a time while the hub is away, in quick succession: after an outage they have to be there soon, because
   * another server that asks for a player waits half a second for one whose event stream is not open yet.
   */
  async reached<T>(call: () => Promise<T>): Promise<T> {
    const attempt = async (): Promise<T> => {
      try {
        const answer = await call();
        this.isAway = false;
        return answer;
      } catch (error) {
        this.isAway = error instanceof HubError && error.isTransient;
        throw error;
      }
    };
    if (!this.isAway) return attempt();
    const turn = this.probe.then(async () => {
      if (this.isAway) await sleep(PROBE_MS, this.stopped.signal);
      return attempt();
    });
    this.probe = turn.catch(() => undefined);
    return turn;
  }

  private async saveAll(intervalMs: number): Promise<void> {
    const { signal } = this.stopped;
    while (!signal.aborted) {
      const visits = [...this.visits.values()];
      // One after the other, so that the hub does not get all at once.
      const pause = intervalMs / (visits.length + 1);
      await sleep(pause, signal);
      for (const visit of visits) {
        await sleep(pause, signal);
        if (signal.aborted) return;
        try {
          visit.capture();
        } catch (error) {
          this.warn(`Player ${visit.player} cannot be captured: ${describe(error)}`);
        }
      }
    }
  }
}

function noSession(): HubError {
  return new HubError("no_session", "The player's session is not open here.");
}
