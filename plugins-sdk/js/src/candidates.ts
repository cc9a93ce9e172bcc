/** Texts of the candidates of this matchmaking call, by their `index`. A wrong index ends the call as failed. */

import candidates from "network-hub:module/candidates";
import { ask } from "./host.ts";

/** The id of the server (for a world: of the server it is on). */
export const serverId = (candidate: number): string => candidates.serverId(candidate);

/** The type of the server (for a world: of the server it is on). */
export const serverType = (candidate: number): string => candidates.serverType(candidate);

/** The display name of the server or world. */
export const displayName = (candidate: number): string => candidates.displayName(candidate);

/** The id of the world; empty for a server. */
export const worldId = (candidate: number): string => candidates.worldId(candidate);

/** The type of the world; empty for a server. */
export const worldType = (candidate: number): string => candidates.worldType(candidate);

/** The game state sent by the server, such as `WAITING`. */
export const stateName = (candidate: number): string => candidates.stateName(candidate);

/** The name of a region's number, such as `EUROPE`. */
export const regionName = (region: number): string => candidates.regionName(region);

/** The number of a region's name in this call; `null` if neither a candidate nor the player is in it. */
export const regionNumber = (name: string): number | null => candidates.regionNumber(name);

/** The UUIDs of the players on the server or world, at most 200. One host call to data. */
export const players = (candidate: number): string[] => ask(() => candidates.players(candidate));
