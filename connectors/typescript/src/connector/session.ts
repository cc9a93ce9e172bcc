import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import type { ServerState } from "../api/servers.js";
import type { HubClient } from "../client.js";
import { HubError } from "../errors.js";
import type { ServerRegistration, ServerSession } from "../generated/schemas.js";
import type { Logger } from "../logger.js";
import { delayAfter, NO_RETRIES, sleep } from "../retry.js";
import { PlayerOutbox, type PlayerChange } from "./outbox.js";
import { now, persist } from "./time.js";

const DELAYS = { firstDelayMs: 250, maxDelayMs: 5_000 };
/** Short, so that several heartbeats fit in before the hub takes the server for offline. */
const TIMEOUT_MS = 5_000;
const OUTBOX_CAPACITY = 20_000;
/** A visit that is older may be over because the player is on another server by now. */
const RECENT_MS = 2_000;
/** From a change of state to the heartbeat that reports it, so that several changes are one. */
const STATE_DELAY_MS = 200;

/**
 * The server's presence at the hub: registration, heartbeats and the changes of players. One request at a time, so that the hub
 * sees everything in the order it happened.
 */
export class Session {
  /** Last error; undefined while there is none. */
  lastError: HubError | undefined;
  isRegistered = false;
  private readonly client: HubClient;
  private readonly outbox = new PlayerOutbox(OUTBOX_CAPACITY);
  /** Players that were reported to the hub, with their names. */
  private readonly reported = new Map<string, string>();
  private readonly ended = new AbortController();
  private running: Promise<void> | undefined;
  private mustRegister = true;
  private isStopping = false;
  private failures = 0;
  private notBefore = 0;
  private intervalMs = 5_000;
  private nextBeat = 0;
  private wakeUp: AbortController | undefined;

  constructor(
    client: HubClient,
    private readonly server: ServerRegistration,
    private state: ServerState,
    private readonly log: Logger,
    private readonly onRegistering: () => void,
    private readonly onRegistered: (answer: ServerSession) => void,
  ) {
    setMaxListeners(0, this.ended.signal);
    // Repeats are made here, where their order is known.
    this.client = client.with({ retry: NO_RETRIES, timeoutMs: TIMEOUT_MS });
  }

  start(): void {
    this.running ??= this.run();
  }

  add(change: PlayerChange): void {
    if (this.isStopping) return;
    const dropped = this.outbox.add(change);
    if (dropped > 0) this.log.warn(`The hub was away for so long that ${dropped} changes of players were dropped`);
    this.wakeUp?.abort();
  }

  setState(state: ServerState): void {
    this.state = { ...this.state, ...state };
    this.nextBeat = Math.min(this.nextBeat, now() + STATE_DELAY_MS);
    this.wakeUp?.abort();
  }

  /** Registers again, to learn of changes since. */
  registerAgain(): void {
    this.isRegistered = false;
    this.mustRegister = true;
    this.wakeUp?.abort();
  }

  /** True if the latest requests failed. */
  get isAway(): boolean {
    return this.failures > 0;
  }

  get pendingChanges(): number {
    return this.outbox.size;
  }

  hasPendingChanges(player: string): boolean {
    return this.outbox.concerns(player);
  }

  /** Reports what is waiting, for as long as there is patience, and takes the server offline. */
  async stop(patienceMs: number): Promise<void> {
    this.isStopping = true;
    this.wakeUp?.abort();
    const patience = new AbortController();
    await Promise.race([this.running, sleep(patienceMs, patience.signal)]);
    patience.abort();
    this.ended.abort();
    this.wakeUp?.abort();
    await this.client.servers.unregister(this.server.serverId).catch((error: HubError) => {
      this.log.warn(`The server could not be taken offline: ${error.message}`);
    });
  }

  private async run(): Promise<void> {
    while (!this.ended.signal.aborted) {
      const change = this.outbox.first;
      if (this.isStopping && change === undefined) {
        return;
      } else if (now() < this.notBefore) {
        await this.waitUntil(this.notBefore);
      } else if (this.mustRegister) {
        await this.attempt(() => this.register());
      } else if (change !== undefined && now() < this.nextBeat + this.intervalMs) {
        await this.report(change);
      } else if (now() >= this.nextBeat) {
        await this.attempt(() => this.beat());
      } else {
        await this.waitUntil(this.nextBeat);
      }
    }
  }

  private async waitUntil(time: number): Promise<void> {
    this.wakeUp = new AbortController();
    await sleep(time - now(), this.wakeUp.signal);
  }

  private async register(): Promise<void> {
    // Before the request: another registration that is asked for meanwhile is made, too.
    this.mustRegister = false;
    this.onRegistering();
    try {
      const answer = await this.client.servers.register({ ...this.server, ...this.state });
      this.isRegistered = true;
      this.intervalMs = Math.max(1, answer.heartbeatIntervalMs);
      this.nextBeat = now();
      this.onRegistered(answer);
    } catch (error) {
      this.mustRegister = true;
      throw error;
    }
  }

  private async beat(): Promise<void> {
    const players = [...this.reported].map(([uuid, name]) => ({ uuid, name }));
    const beatAt = now();
    this.nextBeat = beatAt + this.intervalMs;
    await this.client.servers.heartbeat(this.server.serverId, this.state, players).catch((error: unknown) => {
      this.nextBeat = beatAt;
      throw error;
    });
  }

  private async report(change: PlayerChange): Promise<void> {
    const leave = change.kind === "JOIN" ? this.outbox.endOf(change) : undefined;
    const isOver = leave !== undefined && now() - change.madeAt > RECENT_MS;
    const report = async () => {
      if (isOver && (await this.isElsewhere(change.player))) this.skipVisit(change, leave);
      else await this.send(change);
    };
    await this.attempt(report, (refusal) => {
      this.log.warn(`The hub refused a ${change.kind} of player ${change.player}: ${refusal.message}`);
      this.outbox.remove(change);
      if (change.kind === "LEAVE") this.reported.delete(change.player);
    });
  }

  private async send(change: PlayerChange): Promise<void> {
    const { servers } = this.client;
    const { serverId } = this.server;
    try {
      if (change.kind === "JOIN") await servers.join(serverId, change.player, change.name, change.key);
      else if (change.kind === "WORLD") await servers.changeWorld(serverId, change.player, change.world, change.previousWorld);
      else await servers.leave(serverId, change.player);
    } catch (error) {
      if (HubError.is(error, "unknown_server")) change.key = randomUUID();
      // It was carried out; only the answer is gone.
      if (!HubError.is(error, "answer_not_kept")) throw error;
    }
    this.outbox.remove(change);
    if (change.kind === "JOIN") this.reported.set(change.player, change.name);
    if (change.kind === "LEAVE") this.reported.delete(change.player);
  }

  private async isElsewhere(player: string): Promise<boolean> {
    const connection = (await this.client.players.get(player))?.connection;
    return connection !== undefined && connection !== null && connection.serverId !== this.server.serverId;
  }

  /**
   * A player came and went while the hub was away, and is on another server by now. Telling of the join would move them back, so only
   * the sighting is reported.
   */
  private skipVisit(join: PlayerChange, leave: PlayerChange): void {
    this.outbox.removeVisit(join, leave);
    this.reported.delete(join.player);
    const username = join.kind === "JOIN" ? join.name : "";
    persist(() => this.client.players.load(join.player, { username }), 60_000, this.ended.signal).catch((error: HubError) => {
      this.log.warn(`A visit of player ${join.player} could not be recorded: ${error.message}`);
    });
  }

  /** Makes a request, and waits after one that failed; `refused` is told of what trying again does not help against. */
  private async attempt(request: () => Promise<void>, refused?: (error: HubError) => void): Promise<void> {
    try {
      await request();
    } catch (thrown) {
      const error = HubError.unreachable(thrown);
      if (error.code === "unknown_server") this.registerAgain();
      else if (refused === undefined || isPassing(error)) this.delay(error);
      else refused(error);
      return;
    }
    if (this.isAway) this.log.info(`The hub answers again; ${this.outbox.size} changes of players to report`);
    this.failures = 0;
    this.lastError = undefined;
  }

  private delay(error: HubError): void {
    this.failures += 1;
    this.lastError = error;
    if (this.failures === 1) this.log.warn(`The hub cannot be told of this server: ${error.message}`);
    this.notBefore = now() + (error.retryAfterMs ?? delayAfter(this.failures, DELAYS));
  }
}

/** True if the error may pass, by itself or once the key is right. */
export function isPassing(error: HubError): boolean {
  const isKey = error.status === 401 || (error.status === 403 && error.code !== "quota_exceeded");
  return error.isTransient || error.status >= 500 || isKey || error.code === "invalid_answer";
}
