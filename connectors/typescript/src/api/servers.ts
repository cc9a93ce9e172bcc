import { randomUUID } from "node:crypto";
import type {
  ConsoleCommandReport, HeartbeatPlayer, ListedServerPage, LogBatchLine, PresenceRecord, ServerHeartbeat, ServerRegistration,
  ServerSession,
} from "../generated/schemas.js";
import { path, type Transport } from "../transport.js";

/** A server's changing state: its game's state and its worlds. Absent fields stay unchanged. */
export type ServerState = Pick<ServerHeartbeat, "gameState" | "playersToStart" | "worlds">;

/** Servers: registration, heartbeats, who is where. */
export class ServersApi {
  constructor(private readonly transport: Transport) {}

  /** Registers a server and marks it online. */
  register(server: ServerRegistration): Promise<ServerSession> {
    return this.transport.send({ method: "POST", path: path`servers/register`, body: server });
  }

  /**
   * Keeps a server online. Fails with `unknown_server` where it has to register again. Never repeated, because the next one says
   * more.
   *
   * @param players who is on it, all of them: others have left. Without them it leaves them as they were.
   */
  async heartbeat(serverId: string, state: ServerState = {}, players?: HeartbeatPlayer[]): Promise<void> {
    const body = { ...state, serverId, players };
    await this.transport.send({ method: "POST", path: path`servers/heartbeat`, body, repeat: "never" });
  }

  /** Takes a server offline at once; one that is unknown stays so. */
  async unregister(serverId: string): Promise<void> {
    await this.transport.send({ method: "POST", path: path`servers/unregister`, query: { serverId } });
  }

  /**
   * Puts a player on a server, and ends the transfer that sent them there. A player is on one server at most.
   *
   * @param idempotencyKey with the same key it counts once, however often it is sent
   */
  async join(serverId: string, playerUuid: string, playerName: string, idempotencyKey: string = randomUUID()): Promise<void> {
    const body = { serverId, playerUuid, playerName };
    const headers = { "Idempotency-Key": idempotencyKey };
    await this.transport.send({ method: "POST", path: path`servers/players`, body, headers, repeat: "keyed" });
  }

  /** Moves a player to another world of their server. Fails with `player_not_on_server`. */
  async changeWorld(serverId: string, playerUuid: string, newWorldId: string, previousWorldId?: string): Promise<void> {
    const body = { serverId, playerUuid, newWorldId, previousWorldId };
    await this.transport.send({ method: "POST", path: path`servers/players/world`, body });
  }

  /** Takes a player off this server; one who is elsewhere by now stays there. */
  async leave(serverId: string, playerUuid: string): Promise<void> {
    await this.transport.send({ method: "DELETE", path: path`servers/players/${playerUuid}`, query: { serverId } });
  }

  /** The servers of the network, online or not; pages count from 0. */
  list(
    filter: { serverType?: string; online?: boolean; region?: string; search?: string; page?: number; limit?: number } = {},
  ): Promise<ListedServerPage> {
    return this.transport.send({ method: "GET", path: path`servers`, query: filter });
  }

  /** All players who are online, or those on servers of a type. */
  async onlinePlayers(serverType?: string): Promise<PresenceRecord[]> {
    const players: PresenceRecord[] = [];
    let cursor: string | null = null;
    do {
      const answer = await this.transport.exchange({ method: "GET", path: path`servers/players`, query: { serverType, cursor } });
      players.push(...(answer.body as PresenceRecord[]));
      // A header has the cursor of the next part, if there is one.
      cursor = answer.headers.get("Next-Cursor");
    } while (cursor !== null);
    return players;
  }

  /** Reports the outcome of a console command. An answer that comes too late is accepted and discarded. */
  async reportCommand(report: ConsoleCommandReport): Promise<void> {
    await this.transport.send({ method: "POST", path: path`servers/command-result`, body: report });
  }

  /** Ships lines of the console; the hub keeps the newest 5,000 of a server. */
  async shipLogs(serverId: string, lines: LogBatchLine[]): Promise<void> {
    await this.transport.send({ method: "POST", path: path`servers/${serverId}/logs`, body: { lines }, repeat: "keyed" });
  }
}
