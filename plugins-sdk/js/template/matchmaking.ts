// Fill up: servers of the player's region first, then those with the party's game, then the fullest with room.

import { type CallContext, config } from "network-hub-module";
import {
  type MatchRequest,
  type Matchmaking,
  type Ranking,
  refuse,
  type ServerCandidate,
} from "network-hub-module/matchmaking";

const DEFAULTS = {
  /** Maximum fill level of a server, as a share of its slots. */
  maxFill: 1.0,
  /** Server types to which no player is sent. */
  closedTypes: [] as string[],
};

function rank(context: CallContext, request: MatchRequest, candidates: ServerCandidate[]): Ranking {
  const { maxFill, closedTypes } = config(context, DEFAULTS);
  if (closedTypes.includes(request.serverType)) {
    return refuse(`No ${request.serverType} is open right now.`);
  }
  const hasRoom = ({ maxPlayers, currentPlayers }: ServerCandidate) =>
    maxPlayers === 0 || currentPlayers < maxPlayers * maxFill;
  const isNear = ({ region }: ServerCandidate) => Number(region === request.region);
  return candidates
    .filter(hasRoom)
    .sort((a, b) =>
      isNear(b) - isNear(a) || Number(b.affinity) - Number(a.affinity) || b.currentPlayers - a.currentPlayers
    )
    .map(({ index }) => index);
}

export const matchmaking: Matchmaking = { rankServers: rank, rankWorlds: rank };
