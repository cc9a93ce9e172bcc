/**
 * The hub's data about the players of this network. Read only. Each function is one of the call's 8 host calls to
 * data, and throws a `HostError` if the hub cannot answer.
 */

import players from "network-hub:module/players@1.0.0";
import type { PunishmentKind } from "network-hub-module";
import { ask } from "./host.ts";

/** The period a statistic is counted over; each starts at 00:00 UTC, the week on Monday. */
export type Period = "daily" | "weekly" | "monthly" | "lifetime";

/** Whether a permission node is granted, denied or not mentioned. */
export type PermissionState = "granted" | "denied" | "undefined";

/** Where an online player is. */
export interface Location {
  serverId: string;
  serverType: string;
  worldId: string | null;
}

/** One punishment of a player's record. */
export interface Punishment {
  id: number;
  kind: PunishmentKind;
  reason: string;
  issuedAtMs: number;
  /** How long it was issued for; `null` is permanent. */
  durationMs: number | null;
  ipBased: boolean;
  issuerName: string | null;
  /** In force now. A kick never is. */
  active: boolean;
  /** Ended by somebody before its time. */
  revoked: boolean;
  /** Its duration has passed. */
  expired: boolean;
}

/** One statistic of at most 100 players, in the order asked; `null` for a player who has no such value. */
export const statistics = (
  uuids: string[],
  name: string,
  { gameMode = null, period = "lifetime" }: { gameMode?: string | null; period?: Period } = {},
): (number | null)[] => ask(() => players.statistics(uuids, name, gameMode, period));

/** A player's balance in ten-thousandths of the currency's unit; `null` where there is no such currency. */
export const balance = (player: string, currency: string): number | null =>
  ask(() => players.balance(player, currency));

/** Whether a player holds a permission node, in a context and world if given. */
export const permission = (
  player: string,
  node: string,
  { context = null, world = null }: { context?: string | null; world?: string | null } = {},
): PermissionState => ask(() => players.permission(player, node, context, world));

/** A player's punishments, newest first, revoked and expired ones included; at most `limit` (1 to 100). */
export const punishments = (
  player: string,
  { sinceMs = null, kind = null, limit = 100 }: {
    sinceMs?: number | null;
    kind?: PunishmentKind | null;
    limit?: number;
  } = {},
): Punishment[] => ask(() => players.punishments(player, { sinceMs, kind, limit }));

/** Where a player is; `null` when offline. */
export const online = (player: string): Location | null => ask(() => players.online(player));
