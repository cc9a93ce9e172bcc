// A happy hour each evening: a schedule begins it, a timer ends it.

import { config } from "network-hub-module";
import { announce, setTimer } from "network-hub-module/effects";
import * as log from "network-hub-module/log";
import * as state from "network-hub-module/state";
import { Reject } from "network-hub-module/timers";

const DEFAULTS = {
  /** Announcement of the beginning. */
  message: "Happy hour!",
  /** Duration in minutes; 0: it has no end. */
  minutes: 60,
};

/** @type {import("network-hub-module/schedules").Schedules} */
export const schedules = {
  tick(context, { dueAt, missed }) {
    const { message, minutes } = config(context, DEFAULTS);
    if (missed > 0) log.info(`${missed} happy hours were missed`);
    // Committed with the effects: all or nothing.
    const number = Number(state.get("count") ?? 0) + 1;
    state.set("count", String(number));
    const effects = [announce(message)];
    // Replaces the timer of a happy hour that goes on.
    if (minutes > 0) effects.push(setTimer("end", dueAt + minutes * 60_000, { number }));
    return effects;
  },
};

/** @type {import("network-hub-module/timers").Timers} */
export const timers = {
  fire(_, { key, payload: { number } }) {
    // One that another version set.
    if (typeof number !== "number") throw new Reject(`the timer ${key} has no number`);
    return [announce(`Happy hour number ${number} is over.`)];
  },
};
