// Welcome: a reward for the first join, and a count of them.

import { config } from "network-hub-module";
import { announce, modifyCurrency, optional, tell } from "network-hub-module/effects";
import { player } from "network-hub-module/events";
import * as log from "network-hub-module/log";
import * as state from "network-hub-module/state";

const DEFAULTS = {
  /** Currency of the reward. */
  currency: "coins",
  /** The reward; 0: none. */
  reward: 100,
  /** Each so many first joins are announced; 0: none. */
  announceEvery: 100,
};

/** @type {import("network-hub-module/events").Events} */
export const events = {
  handle(context, event) {
    const { currency, reward, announceEvery } = config(context, DEFAULTS);
    const uuid = player(event);
    const name = event.playerName ?? "stranger";
    if (state.get(`seen:${uuid}`) !== null) return [];
    // Committed with the effects: all or nothing.
    state.set(`seen:${uuid}`, "1");
    /** @type {import("network-hub-module/effects").Effect[]} */
    const effects = [];
    if (reward > 0) effects.push(modifyCurrency(uuid, currency, reward, "first join"));
    // Refused where the player has left meanwhile, which is no reason to keep the reward back.
    effects.push(optional(tell(uuid, `Welcome, ${name}!`)));
    // Of two calls that count at once, one runs again.
    const joined = Number(state.get("joined") ?? 0) + 1;
    state.set("joined", String(joined));
    if (announceEvery > 0 && joined % announceEvery === 0) {
      log.info(`announced ${name}`);
      effects.push(announce(`${name} is player number ${joined}.`));
    }
    return effects;
  },
};
