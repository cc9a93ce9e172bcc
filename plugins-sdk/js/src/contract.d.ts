// The hub's functions provided by the build. Authors use the typed modules beside this file.

declare module "network-hub:module/log@1.0.0" {
  const log: { write(level: "debug" | "info" | "warn" | "error", message: string): void };
  export default log;
}

declare module "network-hub:module/store@1.0.0" {
  const store: {
    get(key: string): string | null;
    set(key: string, value: string, ttlMs: number | null): void;
    increment(key: string, by: number, ttlMs: number | null): number;
    delete(key: string): boolean;
  };
  export default store;
}

declare module "network-hub:module/players@1.0.0" {
  import type { PunishmentKind } from "network-hub-module";
  import type { Location, Period, PermissionState, Punishment } from "network-hub-module/players";
  type Filter = { sinceMs: number | null; kind: PunishmentKind | null; limit: number };
  const players: {
    statistics(players: string[], name: string, gameMode: string | null, period: Period): (number | null)[];
    balance(player: string, currency: string): number | null;
    permission(player: string, node: string, context: string | null, world: string | null): PermissionState;
    punishments(player: string, filter: Filter): Punishment[];
    online(player: string): Location | null;
  };
  export default players;
}

declare module "network-hub:module/candidates@1.0.0" {
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
