import { randomUUID } from "node:crypto";
import type {
  ChatMessageInput, ConfigDocument, Match, MatchRequest, RegionPopulation, Ticket, TicketRequest, TransferOutcome, TransferReport,
} from "../generated/schemas.js";
import { path, type Transport } from "../transport.js";

/** Finding servers and worlds. */
export class MatchmakingApi {
  constructor(private readonly transport: Transport) {}

  /** Finds a place and reserves a slot there for 15 seconds. Where there is none the answer says why; that is no error. */
  find(request: MatchRequest): Promise<Match> {
    return this.transport.send({ method: "POST", path: path`matchmaking/find`, body: request, repeat: "keyed" });
  }

  /** Returns servers and players by region, of all types or one. */
  regions(serverType?: string): Promise<RegionPopulation[]> {
    return this.transport.send({ method: "GET", path: path`matchmaking/regions`, query: { serverType } });
  }

  /** Takes a ticket, which keeps its place in a line until there is room. The same request again keeps ticket and place. */
  joinLine(request: TicketRequest): Promise<Ticket> {
    return this.transport.send({ method: "POST", path: path`matchmaking/tickets`, body: request, repeat: "keyed" });
  }

  /** A ticket with its place or its match; undefined for one that ended more than ten minutes ago. */
  ticket(ticketId: string): Promise<Ticket | undefined> {
    return this.transport.find({ method: "GET", path: path`matchmaking/tickets/${ticketId}` });
  }

  /** Ends a ticket; whether there was one. */
  leaveLine(ticketId: string): Promise<boolean> {
    return this.transport.delete(path`matchmaking/tickets/${ticketId}`);
  }
}

/** Sending players to other servers. `HubConnector.transfer` also waits for servers that are just reconnecting. */
export class TransfersApi {
  constructor(private readonly transport: Transport) {}

  /**
   * Sends a player from the server they are on to another one. The answer says whether the command is on its way, not whether
   * the player arrived.
   *
   * @param options `worldId` is the world there; with the same `idempotencyKey` it counts once, however often it is sent
   */
  transfer(
    playerUuid: string, targetServerId: string, options: { worldId?: string | undefined; idempotencyKey?: string } = {},
  ): Promise<TransferOutcome> {
    const body = { playerUuid, targetServerId, targetWorldId: options.worldId };
    const headers = { "Idempotency-Key": options.idempotencyKey ?? randomUUID() };
    return this.transport.send({ method: "POST", path: path`transfers`, body, headers, repeat: "keyed" });
  }

  /** Reports how a transfer ended. The first report counts; a join at the target is one, too. */
  async report(report: TransferReport): Promise<void> {
    await this.transport.send({ method: "POST", path: path`transfers/result`, body: report });
  }
}

/** The network's chat. */
export class ChatApi {
  constructor(private readonly transport: Transport) {}

  /**
   * Sends a line to every server, this one included: show it when it comes back as CHAT, because a filter may have rewritten it.
   * Fails with `chat_rejected` where a filter refuses it.
   */
  async send(message: ChatMessageInput): Promise<void> {
    await this.transport.send({ method: "POST", path: path`chat`, body: message, repeat: "keyed" });
  }
}

/** Config documents: JSON of at most 256 KiB, named by group and namespace. */
export class ConfigApi {
  constructor(private readonly transport: Transport) {}

  /** Stores a default where nothing is stored; returns the effective document. Do it at every start. */
  register(group: string, namespace: string, defaultDoc: unknown): Promise<ConfigDocument> {
    return this.transport.send({ method: "POST", path: path`config/register`, body: { group, namespace, defaultDoc } });
  }

  /** Stores a document; all servers get CONFIG_UPDATED. */
  publish(group: string, namespace: string, doc: unknown): Promise<ConfigDocument> {
    return this.transport.send({ method: "POST", path: path`config/publish`, body: { group, namespace, doc } });
  }

  /** A document; undefined where there is none. */
  get(group: string, namespace: string): Promise<ConfigDocument | undefined> {
    return this.transport.find({ method: "GET", path: path`config/${group}/${namespace}` });
  }
}
