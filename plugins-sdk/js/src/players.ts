/**
 * The hub's data about the players of this network. Read only. Each function is one of the call's 8 host calls to
 * data, and throws a `HostError` if the hub cannot answer.
 */

import players from "network-hub:module/players";
import type { PunishmentKind } from "network-hub-module";
import { ask } from "./host.ts";

/** Period of a statistic; each starts at 00:00 UTC, the week on Monday. */
export type Period = "daily" | "weekly" | "monthly" | "lifetime";

/** State of a permission node: granted, denied or not mentioned. */
export type PermissionState = "granted" | "denied" | "undefined";

/** Location of an online player. */
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
  /** Duration in milliseconds; `null` is permanent. */
  durationMs: number | null;
  ipBased: boolean;
  issuerName: string | null;
  /** True while it is in force. A kick never is. */
  active: boolean;
  /** True if it was revoked before its end. */
  revoked: boolean;
  /** True if its duration has passed. */
  expired: boolean;
}

/** One statistic of at most 100 players, in the given order; `null` for a player without a value. */
export const statistics = (
  uuids: string[],
  name: string,
  { gameMode = null, period = "lifetime" }: { gameMode?: string | null; period?: Period } = {},
): (number | null)[] => ask(() => players.statistics(uuids, name, gameMode, period));

/** A player's balance in ten-thousandths of the currency's unit; `null` if there is no such currency. */
export const balance = (player: string, currency: string): number | null =>
  ask(() => players.balance(player, currency));

/** Resolves a permission node of a player, in a context and world if given. */
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

/** Location of a player; `null` when offline. */
export const online = (player: string): Location | null => ask(() => players.online(player));

/** UUIDs of online players in their order, those after `after`: 1 to 200. It needs contract 1.1. */
export const onlinePlayers = (
  { after = null, limit = 200 }: { after?: string | null; limit?: number } = {},
): string[] => ask(() => players.onlinePlayers(after, limit));
