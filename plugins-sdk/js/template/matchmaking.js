// Fill up: servers of the player's region first, then those with the party's game, then the fullest with room.

import { config } from "network-hub-module";
import { refuse } from "network-hub-module/matchmaking";

const DEFAULTS = {
  /** Maximum fill level of a server, as a share of its slots. */
  maxFill: 1.0,
  /**
   * Server types to which no player is sent.
   * @type {string[]}
   */
  closedTypes: [],
};

/**
 * @param {import("network-hub-module").CallContext} context
 * @param {import("network-hub-module/matchmaking").MatchRequest} request
 * @param {import("network-hub-module/matchmaking").ServerCandidate[]} candidates
 */
function rank(context, request, candidates) {
  const { maxFill, closedTypes } = config(context, DEFAULTS);
  if (closedTypes.includes(request.serverType)) {
    return refuse(`No ${request.serverType} is open right now.`);
  }
  return candidates
    .filter(({ maxPlayers, currentPlayers }) => maxPlayers === 0 || currentPlayers < maxPlayers * maxFill)
    .sort((a, b) =>
      Number(b.region === request.region) - Number(a.region === request.region) ||
      Number(b.affinity) - Number(a.affinity) ||
      b.currentPlayers - a.currentPlayers
    )
    .map(({ index }) => index);
}

/** @type {import("network-hub-module/matchmaking").Matchmaking} */
export const matchmaking = { rankServers: rank, rankWorlds: rank };
