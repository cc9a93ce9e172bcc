import type {
  IncrementedStatistic, IpRecord, LivePlayerProfile, LoadedPlayer, OpenedPlayerSession, PlayerSession, PlayerSessionRequest,
  PlayerSessionSave, PlayerStatistics, PlayerSummaryPage, SavedSession,
} from "../generated/schemas.js";
import { path, type Transport } from "../transport.js";

/** Additional parts of a load's answer. */
export type LoadInclude = "permissions" | "punishments" | "language" | "balances" | "statistics" | `data:${string}`;

/** A player's data, as it was read or written. */
export interface PlayerData<T> {
  readonly value: T;
  /** To be sent with the next write. */
  readonly version: number;
}

/** Players: profiles, data, addresses, statistics. */
export class PlayersApi {
  constructor(private readonly transport: Transport) {}

  /** Players ever seen, the latest first; pages count from 0. */
  list(
    filter: { search?: string; username?: string; region?: string; page?: number; limit?: number } = {},
  ): Promise<PlayerSummaryPage> {
    return this.transport.send({ method: "GET", path: path`players`, query: filter });
  }

  /** A player, with where they are; undefined for one who was never seen. */
  get(uuid: string, gameMode?: string): Promise<LivePlayerProfile | undefined> {
    return this.transport.find({ method: "GET", path: path`players/${uuid}`, query: { gameMode } });
  }

  /**
   * Loads a joining player, and records an unknown one.
   *
   * @param options `username` is the name now, `gameMode` whose data is read (`global` unless set), `gameType` the engine, which is
   *     recorded on first sight; the `ip` is located and forgotten
   */
  load(
    uuid: string,
    options: { username?: string; gameMode?: string; gameType?: string; ip?: string; include?: Iterable<LoadInclude> } = {},
  ): Promise<LoadedPlayer> {
    const include = [...(options.include ?? [])].join(",") || undefined;
    return this.transport.send({ method: "POST", path: path`players/${uuid}/load`, query: { ...options, include } });
  }

  /** A player's data; undefined where none was written. */
  async getData<T>(uuid: string, gameMode: string, namespace: string): Promise<PlayerData<T> | undefined> {
    const found = await this.transport.find<{ data: string; version: number }>({
      method: "GET",
      path: path`players/${uuid}/data/${gameMode}/${namespace}`,
    });
    return found && { value: JSON.parse(found.data) as T, version: found.version };
  }

  /**
   * Writes a player's data: any JSON of at most 256 KiB.
   *
   * @param version what was read, so that nothing written meanwhile is lost: fails with `version_conflict`, and then read again and
   *     apply the change to that. 0 for what was never written; without one it overwrites
   */
  async putData<T>(uuid: string, gameMode: string, namespace: string, value: T, version?: number): Promise<PlayerData<T>> {
    const written = await this.transport.send<{ version: number }>({
      method: "PUT",
      path: path`players/${uuid}/data/${gameMode}/${namespace}`,
      body: { data: JSON.stringify(value), version },
      // A repeat would find its own version.
      repeat: version === undefined ? "safe" : "never",
    });
    return { value, version: written.version };
  }

  /** Deletes a player's data; whether there was any. */
  deleteData(uuid: string, gameMode: string, namespace: string): Promise<boolean> {
    return this.transport.delete(path`players/${uuid}/data/${gameMode}/${namespace}`);
  }

  /** A player's newest session; undefined where there never was one. */
  session(uuid: string): Promise<PlayerSession | undefined> {
    return this.transport.find({ method: "GET", path: path`players/${uuid}/session` });
  }

  /**
   * Opens a session: the right to write the player's data, which one server has at a time. Waits for the server that has it, 3 s unless
   * `waitMs` says otherwise. The answer has the fence that saves name, and the player as `load` answers it, read after the session
   * before ended. Opening again is safe. `PlayerDataStore` does all of this.
   */
  openSession(uuid: string, request: PlayerSessionRequest): Promise<OpenedPlayerSession> {
    return this.transport.send({ method: "POST", path: path`players/${uuid}/session`, body: request });
  }

  /**
   * Saves data under a session's fence and completes the claims of deliveries; all or none. `close` ends the session. `number` rises with each
   * save of a session, so that one that was given up cannot follow a later one. Fails with `stale_session` where the session is
   * over, and with `stale_claim`. The same save again has no second effect.
   */
  saveSession(uuid: string, fence: number, save: PlayerSessionSave): Promise<SavedSession> {
    return this.transport.send({ method: "PUT", path: path`players/${uuid}/session/${fence}`, body: save });
  }

  /** The addresses a player was seen with, the current one first. */
  ips(uuid: string): Promise<IpRecord[]> {
    return this.transport.send({ method: "GET", path: path`players/${uuid}/ips` });
  }

  /** A player's statistics, of the game mode `global` unless set. */
  statistics(uuid: string, gameMode?: string): Promise<PlayerStatistics> {
    return this.transport.send({ method: "GET", path: path`players/${uuid}/statistics`, query: { gameMode } });
  }

  /** Adds to a player's statistic, in the day, week, month and lifetime. */
  increment(uuid: string, name: string, amount: number, gameMode?: string): Promise<IncrementedStatistic> {
    const body = { name, amount, gameMode };
    return this.transport.send({ method: "POST", path: path`players/${uuid}/statistics/increment`, body, repeat: "keyed" });
  }
}
