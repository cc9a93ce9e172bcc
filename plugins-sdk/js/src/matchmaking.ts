/** The extension point `matchmaking`: the choice of a player's server or world. */

import type { CallContext } from "network-hub-module";

/** The state of the game on a server or world; `candidates.stateName` names a state that is `other`. */
export type GameState = "idle" | "waiting" | "starting" | "playing" | "other";

/** `freeSlots` without a limit. */
export const UNLIMITED = 4294967295;

/** Request of a player for a match. */
export interface MatchRequest {
  /** `null` if the caller did not name the player. */
  playerUuid: string | null;
  playerName: string | null;
  /** The player's region; `candidates.regionName` gives its name. Numbers hold within one call. */
  region: number;
  serverType: string;
  worldType: string | null;
  /** Game of the preferred owner, such as the player's party. */
  affinityGameId: string | null;
  affinityOwnerScope: string | null;
  affinityOwnerId: string | null;
}

/** A server the player could join. Texts are in `network-hub-module/candidates`. */
export interface ServerCandidate {
  /** Its position in the list; the answer consists of these. */
  index: number;
  region: number;
  state: GameState;
  /** True if the preferred owner is live there. */
  affinity: boolean;
  currentPlayers: number;
  /** 0 without a limit. */
  maxPlayers: number;
  /** Slots left after players and reservations, 1 or more. */
  freeSlots: number;
  /** Number of players its game needs to start; 0 if it is no minigame. */
  playersToStart: number;
  /** Number of players still missing. */
  playersNeeded: number;
}

/** A world the player could join. */
export interface WorldCandidate extends ServerCandidate {
  /** Worlds with the same number share a server. */
  server: number;
  /** Slots left on its server. */
  serverFreeSlots: number;
}

/** Refusal to match any candidate. */
export interface Refusal {
  /** Shown to the player, 1 to 256 characters. */
  reason: string;
}

/** Indices of candidates, best first, or a refusal. Others are not tried. */
export type Ranking = number[] | Refusal;

/** Ranks candidates: `export const matchmaking: Matchmaking = { … }`. */
export interface Matchmaking {
  rankServers(context: CallContext, request: MatchRequest, servers: ServerCandidate[]): Ranking;
  rankWorlds(context: CallContext, request: MatchRequest, worlds: WorldCandidate[]): Ranking;
}

/** Refuses the match and shows the player the reason. */
export const refuse = (reason: string): Refusal => ({ reason });
