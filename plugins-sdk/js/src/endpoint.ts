/** Between the contract and the endpoints of a module; used by the build, not by authors. */

import type { Caller, CallerKind, Request, Response } from "./endpoints.ts";
import { type Lowered, loweredAll } from "./handler.ts";

type Pairs = [string, string][];

/** A request of the contract. */
export interface GivenRequest extends Omit<Request, "parameters" | "headers" | "body" | "caller"> {
  parameters: Pairs;
  headers: Pairs;
  body: Uint8Array | number[];
  caller: Omit<Caller, "kind"> & { kind: Lowercase<CallerKind> };
}

export const requested = ({ parameters, headers, body, caller, ...rest }: GivenRequest): Request => ({
  ...rest,
  parameters: Object.fromEntries(parameters),
  headers: Object.fromEntries(headers),
  body: Uint8Array.from(body),
  caller: { ...caller, kind: caller.kind.toUpperCase() as CallerKind },
});

export const responded = ({ status, headers = {}, body = "", effects }: Response): Lowered => ({
  status,
  headers: Object.entries(headers),
  body: typeof body === "string" ? utf8(body) : body,
  effects: loweredAll(effects),
});

function utf8(text: string): Uint8Array {
  const bytes = unescape(encodeURIComponent(text));
  return Uint8Array.from({ length: bytes.length }, (_, at) => bytes.charCodeAt(at));
}
