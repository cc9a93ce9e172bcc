import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import type { HubClient } from "../client.js";
import { describe, HubError } from "../errors.js";
import type { Delivery } from "../generated/schemas.js";
import type { Logger } from "../logger.js";
import { sleep } from "../retry.js";
import type { ClaimOutcome, PlayerDataStore } from "./player-data.js";
import { now, persist } from "./time.js";
import type { Visit } from "./visit.js";

/** Thrown by a handler that cannot carry out a delivery: FAILED, or offered again with `retry`, up to five attempts in all. */
export class DeliveryFailure extends Error {
  override readonly name = "DeliveryFailure";

  constructor(
    reason: string,
    readonly retry = false,
  ) {
    super(reason);
  }
}

/** Carries out a delivery. */
export type DeliveryHandler = (delivery: Delivery) => void | Promise<void>;

/** Parts of the connector that deliveries need. */
export interface DeliveryContext {
  readonly client: HubClient;
  readonly serverId: string;
  readonly data: PlayerDataStore;
  readonly log: Logger;
  readonly stopped: AbortSignal;
  isHere(player: string): boolean;
}

const CLAIM_TTL_MS = 60_000;
/** Time of a claim that is left for completing it. */
const MARGIN_MS = 5_000;
const POLL_MS = 60_000;
/** Between two attempts at a delivery, at most. */
const MOST_PAUSE_MS = 30_000;
const SIDE_BY_SIDE = 16;
const REMEMBERED = 1_000;
/** The end of a claim is told again for so long: past its end the answer says what has become of it. */
const PATIENCE_MS = 120_000;

interface Kind {
  readonly handler: DeliveryHandler;
  /** True if its effect is part of the player's captured data. */
  readonly isData: boolean;
}

interface Claim {
  readonly delivery: Delivery;
  readonly claim: string;
  readonly goodUntil: number;
}

/** Claims, runs and settles the deliveries of the players who are here. */
export class Deliveries {
  private readonly kinds = new Map<string, Kind>();
  private readonly running = new Set<number>();
  /** Claims that the next save of their player completes. */
  private readonly saving = new Map<string, Claim>();
  /** Deliveries that are offered again, though their effects were saved after their claims were over. */
  private readonly carriedOut = new Set<number>();
  private readonly queue: (() => void)[] = [];
  private free = SIDE_BY_SIDE;
  private readonly stopping = new AbortController();
  /** Deliveries, and ends of claims, that are under way. */
  private readonly work = new Set<Promise<void>>();

  constructor(private readonly context: DeliveryContext) {
    setMaxListeners(0, this.stopping.signal); // Any number of deliveries may wait for their next attempt.
    context.data.onOpen = (player) => this.look(player);
    context.data.onClaims = (claims, outcome) => this.claimsEnded(claims, outcome);
  }

  /** True if there is a handler. */
  get isUsed(): boolean {
    return this.kinds.size > 0;
  }

  /** Carries out deliveries of a kind from now on. */
  add(kind: string, handler: DeliveryHandler, isData: boolean): void {
    this.kinds.set(kind, { handler, isData });
  }

  /** Looks for those whose event was missed, until the connector stops. */
  async run(): Promise<void> {
    const { stopped } = this.context;
    while (!stopped.aborted) {
      await sleep(POLL_MS, stopped);
      if (!stopped.aborted) this.look();
    }
  }

  /** Claims nothing more, and gives back what has not begun. */
  stop(): void {
    this.stopping.abort();
  }

  /** Waits for what has begun. */
  async finish(patienceMs: number): Promise<void> {
    const patience = new AbortController();
    await Promise.race([Promise.all(this.work), sleep(patienceMs, patience.signal)]);
    patience.abort();
  }

  /** Asks the hub what can be claimed now. */
  look(player?: string): void {
    if (!this.isUsed || this.stopping.signal.aborted) return;
    const { client, serverId } = this.context;
    this.persist(() => client.deliveries.ready(serverId, player), POLL_MS).then(
      ({ items }) => {
        for (const { deliveryId, playerUuid, kind } of items) {
          if (playerUuid !== null && playerUuid !== undefined) this.ready(deliveryId, playerUuid, kind);
        }
      },
      (error: unknown) => this.warn(`Deliveries cannot be read: ${describe(error)}`),
    );
  }

  /** A delivery can be claimed. */
  ready(deliveryId: number, player: string, name: string): void {
    const kind = this.kinds.get(name);
    if (kind === undefined || this.running.has(deliveryId) || !this.context.isHere(player) || this.stopping.signal.aborted) return;
    // It comes again when the session is open.
    if (kind.isData && !this.context.data.isOpen(player)) return;
    // Its claim is over, and its effect is about to be saved.
    if ([...this.saving.values()].some(({ delivery }) => delivery.deliveryId === deliveryId)) return;
    this.running.add(deliveryId);
    const delivered = this.deliver(deliveryId, player, kind).finally(() => this.running.delete(deliveryId));
    this.track(delivered, `Delivery ${deliveryId} is not carried out`);
  }

  private track(work: Promise<void>, failure: string): void {
    const tracked = work
      .catch((error: unknown) => this.warn(`${failure}: ${describe(error)}`))
      .finally(() => this.work.delete(tracked));
    this.work.add(tracked);
  }

  private async deliver(deliveryId: number, player: string, kind: Kind): Promise<void> {
    await this.slot();
    let again: Claim | undefined;
    try {
      const claim = this.stopping.signal.aborted ? undefined : await this.claim(deliveryId);
      if (claim !== undefined && this.carriedOut.delete(deliveryId)) await this.completeSaved(claim);
      else if (claim !== undefined && (await this.carryOut(claim, player, kind))) again = claim;
    } finally {
      this.free += 1;
      this.queue.shift()?.();
    }
    // A full inventory is not emptied at once.
    if (again !== undefined) {
      await sleep(Math.min(2 ** again.delivery.attempts * 1_000, MOST_PAUSE_MS), this.stopping.signal);
      this.look(player);
    }
  }

  private async slot(): Promise<void> {
    if (this.free <= 0) await new Promise<void>((resolve) => this.queue.push(resolve));
    this.free -= 1;
  }

  private async claim(deliveryId: number): Promise<Claim | undefined> {
    const { client, serverId } = this.context;
    // From the first attempt: the hub may have carried that out.
    const goodUntil = now() + CLAIM_TTL_MS - MARGIN_MS;
    const key = randomUUID();
    try {
      const answer = await this.persist(() => client.deliveries.claim(deliveryId, serverId, key), CLAIM_TTL_MS);
      return { delivery: answer.delivery, claim: answer.claim, goodUntil };
    } catch (error) {
      // With `answer_not_kept` the hub was killed between the claim and its answer: the claim is nobody's, and runs out.
      if (error instanceof HubError && ["claimed", "settled", "not_ready", "answer_not_kept"].includes(error.code)) return undefined;
      throw error;
    }
  }

  /** Returns true if it is to be tried again. */
  private async carryOut(claim: Claim, player: string, kind: Kind): Promise<boolean> {
    const { data, isHere } = this.context;
    if (kind.isData) this.saving.set(claim.claim, claim);
    try {
      if (this.stopping.signal.aborted) throw new DeliveryFailure("The server stops.", true);
      if (!isHere(player)) throw new DeliveryFailure("The player has left.", true);
      if (now() > claim.goodUntil) throw new DeliveryFailure("The server did not get to it in time.", true);
      if (!kind.isData) {
        await kind.handler(claim.delivery);
        await this.complete(claim);
        return false;
      }
      const visit = data.visit(player);
      if (visit?.isOpen !== true) throw new DeliveryFailure("The player's session is not open.", true);
      const later = kind.handler(claim.delivery);
      if (later instanceof Promise) throw new TypeError("a handler whose effect is saved with the player must not be async");
      // In the same step, so that no save has the effect without the claim.
      if (!captured(visit, claim)) throw new DeliveryFailure("The player's session is over.", true);
      return false;
    } catch (failure) {
      if (failure instanceof Unsettled) throw failure.cause;
      this.saving.delete(claim.claim);
      const retry = failure instanceof DeliveryFailure ? failure.retry : true;
      if (!(failure instanceof DeliveryFailure)) this.warn(`Delivery ${claim.delivery.deliveryId} failed: ${describe(failure)}`);
      await this.fail(claim, describe(failure), retry);
      return retry;
    }
  }

  private claimsEnded(claims: readonly string[], outcome: ClaimOutcome): void {
    for (const name of claims) {
      const claim = this.saving.get(name);
      if (outcome !== "SEPARATE") this.saving.delete(name);
      if (claim === undefined || outcome === "SAVED") continue;
      const settle = {
        SEPARATE: () => this.completeSaved(claim),
        REFUSED: () => this.fail(claim, "It was carried out, but the hub refused to save the player.", false),
        LOST: () => this.fail(claim, "The player's session was lost.", true),
      }[outcome];
      this.track(settle(), "A delivery cannot be settled");
    }
  }

  /** Completes a delivery whose effect is stored: now, or when it is offered again. */
  private async completeSaved(claim: Claim): Promise<void> {
    const { deliveryId, onLost, playerUuid } = claim.delivery;
    let isCompleted = false;
    try {
      isCompleted = await this.complete(claim);
    } finally {
      if (!isCompleted && onLost === "RETRY") this.carriedOut.add(deliveryId);
      const [oldest] = this.carriedOut;
      if (this.carriedOut.size > REMEMBERED && oldest !== undefined) this.carriedOut.delete(oldest);
      this.saving.delete(claim.claim);
    }
    if (!isCompleted) this.look(playerUuid ?? undefined);
  }

  /** Completes a delivery; false if its claim is over. */
  private async complete({ delivery, claim }: Claim): Promise<boolean> {
    try {
      await this.persist(() => this.context.client.deliveries.complete(delivery.deliveryId, claim), PATIENCE_MS);
      return true;
    } catch (error) {
      // It was carried out: nothing is failed because of it.
      if (!HubError.is(error, "stale_claim")) throw new Unsettled(error);
      this.warn(`Delivery ${delivery.deliveryId} was carried out too late: its claim is over`);
      return false;
    }
  }

  private async fail({ delivery, claim }: Claim, reason: string, retry: boolean): Promise<void> {
    try {
      const fail = () => this.context.client.deliveries.fail(delivery.deliveryId, claim, reason.slice(0, 256), retry);
      await this.persist(fail, PATIENCE_MS);
    } catch (error) {
      if (!HubError.is(error, "stale_claim")) throw error;
    }
  }

  private persist<T>(call: () => Promise<T>, patienceMs: number): Promise<T> {
    return persist(call, patienceMs, this.context.stopped);
  }

  private warn(text: string): void {
    if (!this.context.stopped.aborted) this.context.log.warn(text);
  }
}

/** Captures a player who has what was delivered, so that it must not be made again. */
function captured(visit: Visit, { claim }: Claim): boolean {
  try {
    return visit.capture(claim);
  } catch (error) {
    throw new DeliveryFailure(`It was carried out, but the player cannot be captured: ${describe(error)}`);
  }
}

/** A delivery that was carried out, and whose completion was not answered. */
class Unsettled extends Error {
  constructor(cause: unknown) {
    super("the completion of a delivery was not answered", { cause });
  }
}
