/** Wraps a module's points; used by the build, not by authors. */

import log from "network-hub:module/log";
import type { CallContext } from "network-hub-module";
import type { Chat } from "./chat.ts";
import type { Change, Economy } from "./economy.ts";
import { type GivenRequest, requested, responded } from "./endpoint.ts";
import type { Endpoints } from "./endpoints.ts";
import type { Events, HandlerContext } from "./events.ts";
import type { GivenEvent, GivenTick, GivenTimer } from "./handler.ts";
import { failing, inUnits, lifted, loweredAll, parts, ticked, timed } from "./handler.ts";
import type { Login } from "./login.ts";
import type { Matchmaking } from "./matchmaking.ts";
import type { Punishment } from "./punishment.ts";
import type { Queue } from "./queue.ts";
import type { Schedules } from "./schedules.ts";
import type { Timers } from "./timers.ts";

export const wrapChat = (chat: Chat) => ({ filter: call(chat.filter.bind(chat)) });

export const wrapPunishment = (punishment: Punishment) => ({ review: call(punishment.review.bind(punishment)) });

export const wrapLogin = (login: Login) => ({ check: call(login.check.bind(login)) });

export const wrapQueue = (queue: Queue) => ({ place: call(queue.place.bind(queue)) });

export const wrapEconomy = (economy: Economy) => ({
  review: call((context: CallContext, given: Change) => {
    const decision = economy.review(context, { ...given, operations: given.operations.map(inUnits) });
    return decision.tag === "amend" ? { ...decision, val: parts(decision.val) } : decision;
  }),
});

export const wrapMatchmaking = (matchmaking: Matchmaking) => ({
  rankServers: orThrow(call(matchmaking.rankServers.bind(matchmaking))),
  rankWorlds: orThrow(call(matchmaking.rankWorlds.bind(matchmaking))),
});

export const wrapEvents = (events: Events) => ({
  handle: handler((context, given: GivenEvent) => loweredAll(events.handle(context, lifted(given)))),
});

export const wrapSchedules = (schedules: Schedules) => ({
  tick: handler((context, given: GivenTick) => loweredAll(schedules.tick(context, ticked(given)))),
});

export const wrapTimers = (timers: Timers) => ({
  fire: handler((context, given: GivenTimer) => loweredAll(timers.fire(context, timed(given)))),
});

export const wrapEndpoints = (endpoints: Endpoints) => ({
  answer: handler((context, given: GivenRequest) => responded(endpoints.answer(context, requested(given)))),
});

/** What is thrown as a failure of the contract is one; other errors are not the contract's. */
function handler<G, R extends object>(serve: (context: HandlerContext, given: G) => R) {
  const logged = call((context: HandlerContext, given: G) => failing(() => serve(context, given)));
  return (context: HandlerContext, given: G): R => {
    const answer = logged(context, given);
    if ("failure" in answer) throw answer.failure;
    return answer;
  };
}

/** Uses the call's time and seed as clock and randomness, and logs an error before it ends the call. */
function call<C extends CallContext, A extends unknown[], R>(serve: (context: C, ...input: A) => R) {
  return (given: C, ...input: A): R => {
    // The engine passes the upper half of 64-bit numbers as negative ones.
    const context = { ...given, seed: given.seed < 0 ? given.seed + 2 ** 64 : given.seed };
    nowMs = context.nowMs;
    Math.random = random(context.seed);
    try {
      return serve(context, ...input);
    } catch (error) {
      log.write("error", error instanceof Error ? `${error.name}: ${error.message}\n${error.stack ?? ""}` : String(error));
      throw error;
    }
  };
}

let nowMs = 0;

/** The engine has no clock. */
globalThis.Date = class extends Date {
  constructor(...parts: [] | ConstructorParameters<DateConstructor>) {
    super(...(parts.length === 0 ? [nowMs] : parts) as ConstructorParameters<DateConstructor>);
  }
  static override now = (): number => nowMs;
} as DateConstructor;

/** In the contract, a refusal is the error of a ranking. */
function orThrow<A extends unknown[], T, E>(serve: (...input: A) => T[] | E) {
  return (...input: A): T[] => {
    const answer = serve(...input);
    if (Array.isArray(answer)) return answer;
    throw answer;
  };
}

/** Mulberry32. */
function random(seed: number): () => number {
  let state = (seed ^ (seed / 2 ** 32)) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
