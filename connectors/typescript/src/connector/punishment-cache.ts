import type { Punishment, PunishmentKind } from "../generated/schemas.js";
import { playerId } from "./player-id.js";
import { HubClock, now } from "./time.js";

const CAPACITY = 50_000;
/** More events than come while an answer is on its way. */
const RECENT = 1_000;

/** What was known of a player when they were last checked. */
interface Check {
  readonly name: string | undefined;
  readonly ip: string | undefined;
  readonly at: number;
}

/**
 * The punishments that the connector knows of, kept current by events. Answers at once, from memory, also while the hub is away. It
 * fails closed: a ban or mute stays until its own end, and somebody of whom nothing is known is taken for muted.
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

  /** Whether a player may not chat: muted, or never checked, so that a mute would not be known. */
  isMuted(player: string): boolean {
    return !this.checks.has(playerId(player)) || this.mute(player) !== undefined;
  }

  /** All that is known to be active. */
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

  /** Whether a punishment concerns a player who was checked here. @internal */
  concerns(punishment: Punishment, player: string): boolean {
    const check = this.checks.get(player);
    return concerns(punishment, player, check?.name, check?.ip);
  }

  /** The hub answered, when asked at this time, that these are all active punishments of a player. @internal */
  checked(player: string, name: string | undefined, ip: string | undefined, found: Punishment[], askedAt: number): void {
    for (const known of this.all()) if (concerns(known, player, name, ip)) this.active.delete(known.id);
    for (const punishment of found) put(this.active, punishment.id, punishment);
    put(this.checks, player, { name, ip, at: askedAt });
    // What was told of meanwhile is newer than the answer may be.
    for (const update of this.recent) if (update.at >= askedAt) this.apply(update.punishment, update.isActive);
  }

  /** An event told of a punishment. @internal */
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

  /** Whether a player was checked with this address since the last gap; without one, with any. @internal */
  isCurrent(player: string, ip?: string): boolean {
    const check = this.checks.get(player);
    return check !== undefined && check.at >= this.gapAt && (ip === undefined || ip === check.ip);
  }

  /** What a player was checked with. @internal */
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
