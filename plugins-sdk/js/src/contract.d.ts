// The hub's functions provided by the build, which fills in the version of the contract. Authors use the typed modules
// beside this file.

declare module "network-hub:module/log" {
  const log: { write(level: "debug" | "info" | "warn" | "error", message: string): void };
  export default log;
}

declare module "network-hub:module/store" {
  const store: {
    get(key: string): string | null;
    set(key: string, value: string, ttlMs: number | null): void;
    increment(key: string, by: number, ttlMs: number | null): number;
    delete(key: string): boolean;
  };
  export default store;
}

declare module "network-hub:module/state" {
  const state: {
    get(key: string): string | null;
    getMany(keys: string[]): (string | null)[];
    list(prefix: string, after: string | null, limit: number): { key: string; value: string }[];
    set(key: string, value: string, ttlMs: number | null): void;
    increment(key: string, by: number, ttlMs: number | null): void;
    delete(key: string): void;
  };
  export default state;
}

declare module "network-hub:module/players" {
  import type { PunishmentKind } from "network-hub-module";
  import type { Location, Period, PermissionState, Punishment } from "network-hub-module/players";
  type Filter = { sinceMs: number | null; kind: PunishmentKind | null; limit: number };
  const players: {
    statistics(players: string[], name: string, gameMode: string | null, period: Period): (number | null)[];
    balance(player: string, currency: string): number | null;
    permission(player: string, node: string, context: string | null, world: string | null): PermissionState;
    punishments(player: string, filter: Filter): Punishment[];
    online(player: string): Location | null;
    /** Since 1.1. */
    onlinePlayers(after: string | null, limit: number): string[];
  };
  export default players;
}

declare module "network-hub:module/candidates" {
  const candidates: {
    serverId(candidate: number): string;
    serverType(candidate: number): string;
    displayName(candidate: number): string;
    worldId(candidate: number): string;
    worldType(candidate: number): string;
    stateName(candidate: number): string;
    regionName(region: number): string;
    regionNumber(name: string): number | null;
    players(candidate: number): string[];
  };
  export default candidates;
}
