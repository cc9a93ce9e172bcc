// Coins for votes that a listing of servers reports, and each voter's count.

import { config } from "network-hub-module";
import { type Effect, modifyCurrency } from "network-hub-module/effects";
import { bodyJson, type Endpoints, error, json, Reject, type Request } from "network-hub-module/endpoints";
import * as log from "network-hub-module/log";
import * as state from "network-hub-module/state";

const DEFAULTS = {
  /** Currency of the reward. */
  currency: "coins",
  /** The reward of a vote. */
  reward: 25,
  /** Kind of the delivery for each tenth vote; empty: none. */
  tenth: "",
};

export const endpoints: Endpoints = {
  answer(context, request) {
    const settings = config(context, DEFAULTS);
    switch (request.endpoint) {
      case "vote":
        return vote(settings, request);
      case "votes":
        return json(200, { votes: votesOf(request.parameters["player"] ?? "") });
      default:
        throw new Reject(`there is no endpoint ${request.endpoint}`);
    }
  },
};

const votesOf = (player: string): number => Number(state.get(`votes:${player}`) ?? 0);

/** The hub has checked who sent it, and calls once for each vote however often it is sent. */
function vote({ currency, reward, tenth }: typeof DEFAULTS, request: Request) {
  const { player } = Object(bodyJson(request)) as { player?: unknown };
  if (typeof player !== "string") return error(400, "invalid_request", "a vote has a `player`");
  const votes = votesOf(player) + 1;
  // Committed with the effects and the answer: all or nothing.
  state.set(`votes:${player}`, String(votes));
  const effects: Effect[] = [modifyCurrency(player, currency, reward, "vote")];
  if (votes % 10 === 0 && tenth !== "") {
    log.info(`vote ${votes} of ${player}`);
    effects.push({ deliver: { playerUuid: player, kind: tenth, payload: { votes }, reference: request.dedupe } });
  }
  return json(200, { votes }, { effects });
}
