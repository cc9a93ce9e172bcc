import type { HubClient } from "../client.js";
import { describe } from "../errors.js";
import type { Match, Ticket, TicketMatched, TicketRequest, TicketUpdated } from "../generated/schemas.js";
import type { Logger } from "../logger.js";
import { persist } from "./time.js";

/** A player's place in a line. */
export interface Place {
  readonly playerUuid: string;
  readonly ticketId: string;
  /** From 1. */
  readonly position: number;
  /** Players in the line. */
  readonly waiting: number;
  /** Estimated wait; null while it is unknown. */
  readonly etaMs: number | null;
}

/** Parts of the connector that lines need. */
export interface LineContext {
  readonly client: HubClient;
  readonly serverId: string;
  readonly isProxy: boolean;
  readonly log: Logger;
  readonly stopped: AbortSignal;
  isHere(player: string): boolean;
}

const PATIENCE_MS = 30_000;
/** Part of the 15 s that slots are held, for sending the players there. */
const MATCH_TTL_MS = 12_000;
/** More matches than are made while an answer is on its way. */
const REMEMBERED = 1_000;

/** Takes tickets, remembers places, and sends players where slots are held for them. */
export class WaitingLines {
  private readonly places = new Map<string, Place>();
  /** Parties of the players who wait by tickets that were taken here. */
  private readonly parties = new Map<string, readonly string[]>();
  /** The latest matches that were acted upon. */
  private readonly sent = new Set<string>();
  /** Requests for tickets that are under way, each with those of its player that events told of since. */
  private readonly asked = new Set<{ readonly player: string; readonly told: Set<string> }>();
  private readonly placeListeners: ((place: Place) => void)[] = [];
  private readonly matchListeners: ((ticket: TicketMatched) => void)[] = [];

  constructor(private readonly context: LineContext) {}

  place(player: string): Place | undefined {
    return this.places.get(player);
  }

  onPlace(listener: (place: Place) => void): void {
    this.placeListeners.push(listener);
  }

  onMatch(listener: (ticket: TicketMatched) => void): void {
    this.matchListeners.push(listener);
  }

  /** Takes a ticket. */
  async wait(request: TicketRequest): Promise<Ticket> {
    const player = request.playerUuid;
    const asked = { player, told: new Set<string>() };
    this.asked.add(asked);
    try {
      const ticket = await this.persist(() => this.context.client.matchmaking.joinLine(request));
      const party = request.party ?? [];
      if (ticket.state !== "WAITING" || !asked.told.has(ticket.ticketId)) this.take(player, ticket, party);
      // The event is newer than the answer, but lacks the party.
      else if (this.places.get(player)?.ticketId === ticket.ticketId) this.parties.set(player, party);
      return ticket;
    } finally {
      this.asked.delete(asked);
    }
  }

  /** Ends a player's ticket; whether they had one. */
  async leave(player: string): Promise<boolean> {
    const place = this.places.get(player);
    if (place === undefined) return false;
    const hadOne = await this.persist(() => this.context.client.matchmaking.leaveLine(place.ticketId));
    // While the ticket may go on, so does the place.
    if (this.places.get(player)?.ticketId === place.ticketId) this.left(player);
    return hadOne;
  }

  /** A player is no longer here; their ticket goes on. */
  left(player: string): void {
    this.places.delete(player);
    this.parties.delete(player);
  }

  /** TICKET_UPDATED. */
  updated({ playerUuid, ticketId, position, waiting, etaMs }: TicketUpdated): void {
    if (!this.context.isHere(playerUuid)) return;
    this.noteTold(playerUuid, ticketId);
    this.put({ playerUuid, ticketId, position, waiting, etaMs: etaMs ?? null });
  }

  /** TICKET_MATCHED. */
  matched(ticket: TicketMatched): void {
    this.noteTold(ticket.playerUuid, ticket.ticketId);
    const { match } = ticket;
    const { isHere, isProxy, serverId } = this.context;
    const { matchedServer: server, transferId } = match;
    // It is told by the answer and by the event.
    if (transferId === null || transferId === undefined || server === null || server === undefined || this.sent.has(transferId)) return;
    this.sent.add(transferId);
    const [oldest] = this.sent;
    if (this.sent.size > REMEMBERED && oldest !== undefined) this.sent.delete(oldest);
    const members = [...new Set([ticket.playerUuid, ...ticket.party])];
    for (const member of members) this.left(member);
    this.tell(this.matchListeners, ticket);
    if (isProxy || server.serverId === serverId) return;
    for (const member of members.filter((each) => isHere(each))) {
      this.send(member, server.serverId, match, `ticket-${transferId}-${member}`).catch((error: unknown) => {
        this.warn(`Player ${member} cannot be sent where a slot is held: ${describe(error)}`);
      });
    }
  }

  /** Events may have been missed. */
  resync(): void {
    for (const place of [...this.places.values()]) {
      this.persist(() => this.context.client.matchmaking.ticket(place.ticketId)).then(
        (ticket) => {
          if (this.places.get(place.playerUuid) !== place) return;
          if (ticket === undefined) this.left(place.playerUuid);
          else this.take(place.playerUuid, ticket, this.parties.get(place.playerUuid) ?? []);
        },
        (error: unknown) => this.warn(`A place in a line cannot be read: ${describe(error)}`),
      );
    }
  }

  private noteTold(playerUuid: string, ticketId: string): void {
    for (const { player, told } of this.asked) if (player === playerUuid) told.add(ticketId);
  }

  private take(playerUuid: string, ticket: Ticket, party: readonly string[]): void {
    const { ticketId, position, waiting, etaMs, match } = ticket;
    if (ticket.state === "WAITING" && typeof position === "number") {
      this.parties.set(playerUuid, party);
      this.put({ playerUuid, ticketId, position, waiting, etaMs: etaMs ?? null });
    } else if (ticket.state === "MATCHED" && match !== null && match !== undefined) {
      this.matched({ ticketId, playerUuid, party: [...party], match });
    } else {
      this.left(playerUuid);
    }
  }

  private put(place: Place): void {
    this.places.set(place.playerUuid, place);
    this.tell(this.placeListeners, place);
  }

  private async send(player: string, serverId: string, match: Match, idempotencyKey: string): Promise<void> {
    const { transfers } = this.context.client;
    const worldId = match.matchedWorld?.worldId;
    const outcome = await this.persist(() => transfers.transfer(player, serverId, { worldId, idempotencyKey }), MATCH_TTL_MS);
    if (!outcome.success) this.warn(`Player ${player} cannot be sent to ${serverId}: ${outcome.result}`);
  }

  private tell<T>(listeners: readonly ((told: T) => void)[], told: T): void {
    for (const listener of listeners) {
      try {
        listener(told);
      } catch (error) {
        this.warn(`A listener of waiting lines failed: ${describe(error)}`);
      }
    }
  }

  private persist<T>(call: () => Promise<T>, patienceMs = PATIENCE_MS): Promise<T> {
    return persist(call, patienceMs, this.context.stopped);
  }

  private warn(text: string): void {
    if (!this.context.stopped.aborted) this.context.log.warn(text);
  }
}
