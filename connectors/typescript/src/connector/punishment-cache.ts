import type { Punishment, PunishmentKind } from "../generated/schemas.js";
import { playerId } from "./player-id.js";
import { HubClock, now } from "./time.js";

const CAPACITY = 50_000;
/** More events than come while an answer is on its way. */
const RECENT = 1_000;

/** A player's state at their last check. */
interface Check {
  readonly name: string | undefined;
  readonly ip: string | undefined;
  readonly at: number;
}

/**
 * The punishments that the connector knows of, kept current by events. Answers immediately, from memory, also while the hub is away. It
 * fails closed: a ban or mute stays until its own end, and an unknown player is treated as muted.
 */
export class PunishmentCache {
  private readonly active = new Map<number, Punishment>();
  private readonly checks = new Map<string, Check>();
  private recent: { punishment: Punishment; isActive: boolean; at: number }[] = [];
  /** The checks before this time no longer count: events may have been missed. */
  private gapAt = now();

  /** @internal */
  constructor(private readonly clock = new HubClock()) {}

  /** The ban that keeps a checked player out, if there is one. */
  ban(player: string): Punishment | undefined {
    return this.ofChecked(player, "BAN");
  }

  /** The mute of a player, if one is known. */
  mute(player: string): Punishment | undefined {
    return this.ofChecked(player, "MUTE");
  }

  /** True if a player may not chat: they are muted, or were never checked, so that a mute would be unknown. */
  isMuted(player: string): boolean {
    return !this.checks.has(playerId(player)) || this.mute(player) !== undefined;
  }

  /** The punishments that are known to be active. */
  all(): Punishment[] {
    return [...this.active.values()];
  }

  private ofChecked(uuid: string, type: PunishmentKind): Punishment | undefined {
    const player = playerId(uuid);
    const check = this.checks.get(player);
    return this.find(player, check?.name, check?.ip, type);
  }

  /** @internal */
  find(player: string, name: string | undefined, ip: string | undefined, type: PunishmentKind): Punishment | undefined {
    const hubNow = this.clock.now();
    for (const punishment of this.active.values()) {
      const isOver = punishment.expiresAt !== null && punishment.expiresAt <= hubNow;
      if (punishment.type === type && !isOver && concerns(punishment, player, name, ip)) return punishment;
    }
    return undefined;
  }

  /** True if a punishment applies to a player who was checked here. @internal */
  concerns(punishment: Punishment, player: string): boolean {
    const check = this.checks.get(player);
    return concerns(punishment, player, check?.name, check?.ip);
  }

  /**
   * The hub answered, when asked at this time, that these are all active punishments of a player. An answer is dropped where the same
   * was asked later and answered before. @internal
   */
  checked(player: string, name: string | undefined, ip: string | undefined, found: Punishment[], askedAt: number): void {
    const last = this.checks.get(player);
    if (last !== undefined && last.at > askedAt && last.name === name && last.ip === ip) return;
    for (const known of this.all()) if (concerns(known, player, name, ip)) this.active.delete(known.id);
    for (const punishment of found) put(this.active, punishment.id, punishment);
    put(this.checks, player, { name, ip, at: askedAt });
    // Events since then may be newer than the answer.
    for (const update of this.recent) if (update.at >= askedAt) this.apply(update.punishment, update.isActive);
  }

  /** Applies a punishment of an event. @internal */
  update(punishment: Punishment, isActive: boolean): void {
    this.recent.push({ punishment, isActive, at: now() });
    if (this.recent.length > RECENT) this.recent.shift();
    this.apply(punishment, isActive);
  }

  private apply(punishment: Punishment, isActive: boolean): void {
    if (isActive) put(this.active, punishment.id, punishment);
    else this.active.delete(punishment.id);
  }

  /** Events may have been missed: only what is checked from now on is current. @internal */
  gap(): void {
    this.gapAt = now();
  }

  /** True if a player was checked with this address since the last gap; without an address, with any. @internal */
  isCurrent(player: string, ip?: string): boolean {
    const check = this.checks.get(player);
    return check !== undefined && check.at >= this.gapAt && (ip === undefined || ip === check.ip);
  }

  /** Identity that a player was checked with. @internal */
  lastCheck(player: string): Pick<Check, "name" | "ip"> {
    return this.checks.get(player) ?? { name: undefined, ip: undefined };
  }
}

function concerns(punishment: Punishment, player: string, name: string | undefined, ip: string | undefined): boolean {
  if (punishment.playerUuid !== null) {
    if (punishment.playerUuid === player) return true;
  } else if (punishment.playerName !== null && name?.toLowerCase() === punishment.playerName.toLowerCase()) {
    return true;
  }
  const isOfAddress = punishment.ipBased || (punishment.playerUuid === null && punishment.playerName === null);
  return isOfAddress && ip !== undefined && ip === punishment.ipAddress;
}

/** Adds to a map of bounded size; what was not touched for longest goes. */
function put<K, V>(map: Map<K, V>, key: K, value: V): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > CAPACITY && oldest !== undefined) map.delete(oldest);
}
