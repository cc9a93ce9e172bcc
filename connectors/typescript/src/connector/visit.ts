import { describe, HubError } from "../errors.js";
import type { OpenedPlayerSession, SessionData } from "../generated/schemas.js";
import { delayAfter, sleep } from "../retry.js";
import type { ClaimOutcome, EndReason, PlayerDataStore } from "./player-data.js";
import { isPassing } from "./session.js";
import { now } from "./time.js";

const DELAYS = { firstDelayMs: 250, maxDelayMs: 5_000 };
/** Between looks at who has a player's session after this server had it. */
const CHECK_MS = 2_000;
/** The last save of the server before is waited for after an outage. */
const LAST_SAVE_MS = 5_000;
const PROBE_MS = 500;
const CLAIMS_AT_ONCE = 32;

/** One save, which is sent until it is answered. */
interface Save {
  readonly data: ReadonlyMap<string, string>;
  readonly claims: readonly string[];
  readonly close: boolean;
  readonly flush: number;
}

interface Waiting {
  readonly flush: number;
  readonly settle: (error?: HubError) => void;
}

/**
 * A player's visit to this server, and the sessions in which their data is written meanwhile: one after the other while the player is here,
 * and one save at a time.
 */
export class Visit {
  /** True while the player's data may be changed. */
  isOpen = false;
  fence: number | undefined;
  /** The namespaces' JSON. */
  current = new Map<string, string>();
  private saved = new Map<string, string>();
  private claims: string[] = [];
  private number = 0;
  private hasLeft = false;
  private isClosing = false;
  private isLost = false;
  /** Highest fence that another server asked for. */
  private requestedFence = 0;
  private flushes = 0;
  private flushed = 0;
  private waiting: Waiting[] = [];
  private wakeUp = new AbortController();

  constructor(
    private readonly store: PlayerDataStore,
    readonly player: string,
    private readonly name: string,
    private readonly stopped: AbortSignal,
  ) {}

  /** Until the player has left and all is saved. */
  async run(): Promise<void> {
    while (!this.hasLeft && !this.stopped.aborted) {
      const opened = await this.open();
      if (opened === undefined) return;
      const isUsable = this.apply(opened);
      await this.saveUntilClosed();
      this.fence = undefined;
      if (!isUsable) return;
      if (!this.hasLeft) await this.untilFree();
    }
  }

  private async open(): Promise<OpenedPlayerSession | undefined> {
    const { client, context, handler } = this.store;
    for (let attempt = 1; !this.hasLeft && !this.stopped.aborted; attempt += 1) {
      try {
        return await client.players.openSession(this.player, {
          serverId: context.serverId,
          username: this.name,
          ...(context.gameMode === undefined ? {} : { gameMode: context.gameMode }),
          ...(context.gameType === undefined ? {} : { gameType: context.gameType }),
          include: (handler?.namespaces ?? []).map((namespace) => `data:${namespace}`),
        });
      } catch (thrown) {
        const error = HubError.unreachable(thrown);
        if (error.code !== "unknown_server" && !isPassing(error)) {
          this.store.warn(`The session of player ${this.player} cannot be opened: ${error.message}`);
          this.tell("REFUSED");
          return undefined;
        }
        await this.wait(error.retryAfterMs ?? delayAfter(attempt, DELAYS));
        if (error.isTransient) await this.waitForLastSave();
      }
    }
    return undefined;
  }

  /** After an outage the server before may have a last save to make, and is not asked for it before its stream is open. */
  private async waitForLastSave(): Promise<void> {
    let deadline = Infinity;
    while (!this.hasLeft && !this.stopped.aborted && now() < deadline) {
      try {
        const session = await this.store.client.players.session(this.player);
        if (session?.state !== "OPEN" || session.serverId === this.store.context.serverId) return;
        deadline = Math.min(deadline, now() + LAST_SAVE_MS);
      } catch (thrown) {
        if (!isPassing(HubError.unreachable(thrown))) return;
      }
      await this.wait(PROBE_MS);
    }
  }

  /** Hands the data to the game, once; false if it cannot take them. */
  private apply(opened: OpenedPlayerSession): boolean {
    const data: Record<string, unknown> = {};
    this.saved = new Map();
    for (const [namespace, entry] of Object.entries(opened.profile.data ?? {})) {
      if (entry === null || entry === undefined) continue;
      this.saved.set(namespace, entry.data);
      data[namespace] = JSON.parse(entry.data);
    }
    this.current = new Map(this.saved);
    this.claims = [];
    this.number = this.flushes = this.flushed = 0;
    this.isLost = false;
    // Asked for before its answer was here: nothing is applied.
    this.isClosing = this.hasLeft || this.requestedFence >= opened.fence;
    this.fence = opened.fence;
    if (opened.takenOver) {
      const { previousServerId } = opened;
      this.store.warn(`Player ${this.player} was taken over from ${previousServerId}: what it had not saved is missing`);
    }
    if (this.isClosing) return true;
    try {
      this.store.handler?.apply(this.player, data);
    } catch (error) {
      this.store.warn(`The data of player ${this.player} cannot be applied: ${describe(error)}`);
      this.isClosing = true;
      this.tell("REFUSED");
      return false;
    }
    this.isOpen = true;
    this.store.onOpen(this.player);
    return true;
  }

  /** Waits until no other server has the player, who has not left by the hub's account either. */
  private async untilFree(): Promise<void> {
    const { client, context } = this.store;
    while (!this.hasLeft && !this.stopped.aborted) {
      await this.wait(CHECK_MS);
      try {
        const session = await client.players.session(this.player);
        const connection = (await client.players.get(this.player))?.connection;
        const isElsewhere = session?.state === "OPEN" && session.serverId !== context.serverId;
        if (!isElsewhere && connection?.serverId === context.serverId) return;
      } catch {
        // Asked again.
      }
    }
  }

  /** Captures, to be saved soon, with a claim; false where the session is not open. */
  capture(claim?: string): boolean {
    if (!this.isOpen || this.store.handler === undefined) return false;
    const captured = Object.entries(this.store.handler.capture(this.player));
    for (const [namespace, value] of captured) this.current.set(namespace, JSON.stringify(value));
    if (claim !== undefined) this.claims.push(claim);
    this.flushes += 1;
    this.wakeUp.abort();
    return true;
  }

  /** Resolves when everything that was captured so far is saved. */
  confirmed(): Promise<void> {
    const { flushes: flush } = this;
    return new Promise((resolve, reject) => {
      this.waiting.push({ flush, settle: (error) => (error === undefined ? resolve() : reject(error)) });
    });
  }

  /** The player leaves. */
  leave(): void {
    this.close("The player has left");
    this.hasLeft = true;
    this.wakeUp.abort();
  }

  /** Another server asks for the player. */
  requested(fence: number): void {
    this.requestedFence = Math.max(this.requestedFence, fence);
    // The answer with this fence may be on its way; then it is closed at once.
    if (fence !== this.fence || this.isClosing) return;
    const wasOpen = this.isOpen;
    this.close("Another server asks for the player");
    if (wasOpen) this.tell("REQUESTED");
  }

  private close(why: string): void {
    try {
      this.capture();
    } catch (error) {
      this.store.warn(`${why}, and ${this.player} cannot be captured; what was saved before counts: ${describe(error)}`);
    }
    this.isOpen = false;
    this.isClosing = true;
    this.wakeUp.abort();
  }

  /** The session is over, and so is the right to save. */
  lose(): void {
    if (this.isLost) return;
    this.isLost = true;
    this.store.warn(`The session ${this.fence} of player ${this.player} is lost; what was not saved is dropped`);
    const wasOpen = this.isOpen;
    this.isOpen = false;
    this.wakeUp.abort();
    if (wasOpen) this.tell("LOST");
  }

  private tell(reason: EndReason): void {
    if (this.hasLeft) return;
    try {
      this.store.handler?.ended?.(this.player, reason);
    } catch (error) {
      this.store.warn(`The end of a session cannot be told: ${describe(error)}`);
    }
  }

  private async saveUntilClosed(): Promise<void> {
    while (!this.isLost && !this.stopped.aborted) {
      const save = this.nextSave();
      if (save === undefined) {
        await this.wait();
        continue;
      }
      await this.send(save);
      if (save.close) break;
    }
    this.settle(Infinity, new HubError("stale_session", "The player's session is over.", { status: 409 }));
    this.store.onClaims(this.claims, "LOST");
  }

  private nextSave(): Save | undefined {
    const data = new Map([...this.current].filter(([namespace, text]) => this.saved.get(namespace) !== text));
    const claims = this.claims.slice(0, CLAIMS_AT_ONCE);
    const flush = this.flushes;
    if (this.isClosing) return { data, claims, flush, close: claims.length === this.claims.length };
    if (flush === this.flushed) return undefined;
    if (data.size > 0 || claims.length > 0) return { data, claims, flush, close: false };
    this.flushed = flush;
    this.settle(flush);
    return undefined;
  }

  /** Sends a save until it is answered. */
  private async send(save: Save): Promise<void> {
    this.number += 1;
    let body = save;
    let outcome: ClaimOutcome = "SAVED";
    for (let attempt = 1; !this.isLost && !this.stopped.aborted; attempt += 1) {
      try {
        const sent = body;
        await this.store.reached(() => this.attempt(sent, this.number));
        this.store.onClaims(save.claims, outcome);
        return this.done(save);
      } catch (thrown) {
        const error = HubError.unreachable(thrown);
        if (error.code === "stale_session") {
          this.lose();
        } else if (error.code === "stale_claim") {
          // They are completed one by one, once their effects are stored.
          this.number += 1;
          body = { ...body, claims: [] };
          outcome = "SEPARATE";
        } else if (error.code === "stale_save") {
          this.number += 1;
        } else if (isPassing(error)) {
          await sleep(error.retryAfterMs ?? (error.isTransient ? 0 : delayAfter(attempt, DELAYS)), this.stopped);
        } else {
          this.store.warn(`The hub refuses to save player ${this.player}: ${error.message}`);
          this.done(save, error);
          // Data that a closing save does not store is gone; else the player has it.
          this.store.onClaims(save.claims, save.close ? "LOST" : "REFUSED");
          if (!save.close || (body.data.size === 0 && body.claims.length === 0)) return;
          // The player is not held because of it.
          this.number += 1;
          body = { ...body, data: new Map(), claims: [] };
          this.tell("REFUSED");
        }
      }
    }
  }

  private async attempt(save: Save, number: number): Promise<void> {
    const { gameMode } = this.store.context;
    const mode = gameMode === undefined ? {} : { gameMode };
    const data: SessionData[] = [...save.data].map(([namespace, text]) => ({ ...mode, namespace, data: text }));
    const complete = [...save.claims];
    await this.store.client.players.saveSession(this.player, this.fence ?? 0, { data, complete, number, close: save.close });
  }

  private done(save: Save, error?: HubError): void {
    // After a refusal: not again, unless it changes.
    for (const [namespace, text] of save.data) this.saved.set(namespace, text);
    this.forgetClaims(save.claims);
    this.flushed = save.flush;
    this.settle(save.flush, error);
  }

  private settle(flush: number, error?: HubError): void {
    const ready = this.waiting.filter((each) => each.flush <= flush);
    this.waiting = this.waiting.filter((each) => each.flush > flush);
    for (const each of ready) each.settle(error);
  }

  private forgetClaims(claims: readonly string[]): void {
    this.claims = this.claims.filter((claim) => !claims.includes(claim));
  }

  /** Until something happens, or the time is over. */
  private async wait(ms = 2 ** 31 - 1): Promise<void> {
    await sleep(ms, AbortSignal.any([this.wakeUp.signal, this.stopped]));
    this.wakeUp = new AbortController();
  }
}
