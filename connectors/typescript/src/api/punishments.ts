import type {
  AddressPunishmentRequest, AddressUnban, NamePunishmentRequest, NameUnban, PlayerAddress, Punishment, PunishmentRemoval,
  PunishmentRequest,
} from "../generated/schemas.js";
import { path, type Transport } from "../transport.js";

/** Bans, mutes, warnings, kicks. */
export class PunishmentsApi {
  constructor(private readonly transport: Transport) {}

  /** Punishes a player; without `durationMs` for good. */
  punish(request: PunishmentRequest): Promise<Punishment> {
    return this.create("create", request);
  }

  /** Punishes the player who has or will have a name. */
  punishName(request: NamePunishmentRequest): Promise<Punishment> {
    return this.create("create-by-name", request);
  }

  /** Punishes an address; undefined, and nothing is done, for a blank one. */
  punishIp(request: AddressPunishmentRequest): Promise<Punishment | undefined> {
    return this.create("create-ip", request);
  }

  private create<T>(route: string, body: object): Promise<T> {
    return this.transport.send({ method: "POST", path: path`punishments/${route}`, body, repeat: "keyed" });
  }

  /** Notes a player's address now, so that punishments of addresses match. */
  async recordIp(address: PlayerAddress): Promise<void> {
    await this.transport.send({ method: "POST", path: path`punishments/ip`, body: address });
  }

  /** Returns the punishments of a player, an address, or either; only active ones by default. */
  query(filter: { playerUuid?: string; ip?: string; activeOnly?: boolean }): Promise<Punishment[]> {
    return this.transport.send({ method: "GET", path: path`punishments/query`, query: filter });
  }

  /** A player's punishments that are active; all, if asked for. */
  ofPlayer(uuid: string, activeOnly = true): Promise<Punishment[]> {
    return this.transport.send({ method: "GET", path: path`punishments/player/${uuid}`, query: { activeOnly } });
  }

  /** All of a player's punishments, also those that ended, the latest first. */
  historyOfPlayer(uuid: string, part: { limit?: number; offset?: number } = {}): Promise<Punishment[]> {
    return this.transport.send({ method: "GET", path: path`punishments/player/${uuid}/history`, query: part });
  }

  /** A name's punishments that are active; all, if asked for. */
  ofName(name: string, activeOnly = true): Promise<Punishment[]> {
    return this.transport.send({ method: "GET", path: path`punishments/player-name/${name}`, query: { activeOnly } });
  }

  /** All of a name's punishments, also those that ended, the latest first. */
  historyOfName(name: string, part: { limit?: number; offset?: number } = {}): Promise<Punishment[]> {
    return this.transport.send({ method: "GET", path: path`punishments/player-name/${name}/history`, query: part });
  }

  /** Revokes a punishment; one that is not active is answered as it is. */
  remove(removal: PunishmentRemoval): Promise<Punishment> {
    return this.create("remove", removal);
  }

  /** Revokes all active bans of a name, and of its last address if asked to; returns the revoked ones. */
  unbanName(unban: NameUnban): Promise<Punishment[]> {
    return this.create("unban-by-name", unban);
  }

  /** Revokes all active bans of an address; returns the revoked ones. */
  unbanIp(unban: AddressUnban): Promise<Punishment[]> {
    return this.create("unban-ip", unban);
  }
}
