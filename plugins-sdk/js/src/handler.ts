/** Between the contract and the handlers of a module; used by the build, not by authors. */

import { HostError } from "network-hub-module";
import type { ChatTarget, Effect, Effects, Operation, PlayerUuidOrName } from "./effects.ts";
import { type Event, Reject, Retry } from "./events.ts";
import type { Tick } from "./schedules.ts";
import type { Timer } from "./timers.ts";

/** A value of the contract. */
export type Lowered = Record<string, unknown>;

/** A failure of the contract. */
export interface Failure {
  tag: "retry" | "reject";
  val: string;
}

/** An event of the contract. */
export interface GivenEvent extends Omit<Event, "type" | "at" | "data"> {
  kind: string;
  atMs: number;
  data: string;
}

/** A tick of the contract. */
export interface GivenTick extends Omit<Tick, "dueAt"> {
  dueAtMs: number;
}

/** A timer of the contract. */
export interface GivenTimer {
  key: string;
  atMs: number;
  payload: string;
}

type Fields = Record<string, unknown>;

export function lifted({ kind, atMs, data, ...rest }: GivenEvent): Event {
  return { ...rest, type: kind, at: atMs, data: JSON.parse(data) as Fields };
}

export const ticked = ({ dueAtMs, ...rest }: GivenTick): Tick => ({ ...rest, dueAt: dueAtMs });

export const timed = ({ key, atMs, payload }: GivenTimer): Timer =>
  ({ key, at: atMs, payload: JSON.parse(payload) as Fields });

/** The answer, or the failure that is thrown. Other errors are not the contract's. */
export function failing<R extends object>(serve: () => R): R | { failure: Failure } {
  try {
    return serve();
  } catch (error) {
    if (error instanceof Retry) return { failure: { tag: "retry", val: error.message } };
    if (error instanceof Reject) return { failure: { tag: "reject", val: error.message } };
    if (error instanceof HostError) return { failure: failure(error) };
    throw error;
  }
}

function failure({ tag, message }: HostError): Failure {
  switch (tag) {
    case "unavailable":
      return { tag: "retry", val: "the hub's data can't be reached" };
    case "quota-exceeded":
      return { tag: "retry", val: "the module's state is full" };
    case "forbidden":
    case "invalid":
      return { tag: "reject", val: message };
  }
}

/** The effects that a handler returns; none if it returns nothing. */
export const loweredAll = (effects: Effect[] | undefined): Lowered[] => (effects ?? []).map(lowered);

function lowered(effect: Effect): Lowered {
  const { optional = false, ...named } = effect;
  const [name, ...more] = Object.keys(named) as (keyof Effects)[];
  const lower = name === undefined ? undefined : LOWER[name] as ((fields: unknown) => Lowered) | undefined;
  if (name === undefined || lower === undefined || more.length > 0) {
    throw new Error(`this is no effect: ${JSON.stringify(effect)}`);
  }
  const val = lower((named as Record<string, unknown>)[name]);
  return { action: { tag: name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), val }, optional };
}

/** Ten-thousandths of a currency's unit. */
export const parts = (amount: number): number => Math.round(amount * 10_000);

/** An operation of the contract, whose amount is in ten-thousandths. */
export const inUnits = (given: Operation): Operation => ({ ...given, amount: given.amount / 10_000 });

const json = (value: object): string => JSON.stringify(value);

const jsonOrNone = (value: object | null | undefined): string | null => value == null ? null : json(value);

const operation = ({ ownerType, ownerKey, currency, amount }: Operation) =>
  ({ ownerType, ownerKey, currency, amount: parts(amount) });

const who = ({ playerUuid, playerName }: PlayerUuidOrName) =>
  ({ playerUuid: playerUuid ?? null, playerName: playerName ?? null });

function target(to: ChatTarget): Lowered {
  if (to === "NETWORK") return { tag: "network" };
  if ("serverType" in to) return { tag: "server-type", val: to.serverType };
  return "serverId" in to ? { tag: "server", val: to.serverId } : { tag: "player", val: to.playerUuid };
}

/** The contract's records have all fields. */
const LOWER: { [Name in keyof Effects]: (fields: Effects[Name]) => Lowered } = {
  modifyCurrency: (it) => ({ ...operation(it), reason: it.reason ?? null, exact: it.exact ?? false }),
  transaction: ({ operations, reason }) => ({ operations: operations.map(operation), reason: reason ?? null }),
  incrementStatistic: ({ ownerType, ownerKey, name, gameMode, amount }) =>
    ({ ownerType, ownerKey, name, gameMode: gameMode ?? null, amount }),
  putPlayerData: ({ playerUuid, gameMode, namespace, data, version }) =>
    ({ playerUuid, gameMode, namespace, data, version: version ?? null }),
  deletePlayerData: ({ playerUuid, gameMode, namespace, version }) =>
    ({ playerUuid, gameMode, namespace, version: version ?? null }),
  putDocument: ({ collection, id, document, expected }) =>
    ({ collection, id, document: json(document), expected: jsonOrNone(expected) }),
  deleteDocument: ({ collection, id, expected }) => ({ collection, id, expected: jsonOrNone(expected) }),
  putPermission: ({ playerUuid, node, value, context, world, expiresAt }) =>
    ({ playerUuid, node, value, context: context ?? null, world: world ?? null, expiresAtMs: expiresAt ?? null }),
  removePermission: ({ playerUuid, node, context, world }) =>
    ({ playerUuid, node, context: context ?? null, world: world ?? null }),
  punish: (it) =>
    ({ ...who(it), kind: it.type.toLowerCase(), durationMs: it.durationMs ?? null, reason: it.reason }),
  revokePunishment: ({ id, reason }) => ({ id, reason: reason ?? null }),
  sendChat: ({ target: to, text, prefix }) => ({ target: target(to), text, prefix: prefix ?? null }),
  emit: ({ name, key, payload }) => ({ name, key: key ?? null, payload: json(payload) }),
  deliver: (it) => ({
    ...who(it),
    kind: it.kind,
    payload: json(it.payload),
    serverType: it.serverType ?? null,
    serverId: it.serverId ?? null,
    notBeforeMs: it.notBefore ?? null,
    expiresAtMs: it.expiresAt ?? null,
    reference: it.reference ?? null,
    onLost: it.onLost?.toLowerCase() ?? null,
  }),
  runCommand: ({ serverId, command, timeoutMs }) => ({ serverId, command, timeoutMs: timeoutMs ?? null }),
  transfer: ({ playerUuid, targetServerId, targetWorldId }) =>
    ({ playerUuid, targetServerId, targetWorldId: targetWorldId ?? null }),
  callWebhook: ({ webhookId, name, payload }) => ({ webhookId, name, payload: json(payload) }),
  setTimer: ({ key, at, payload }) => ({ key, atMs: at, payload: json(payload) }),
  cancelTimer: ({ key }) => ({ key }),
};
