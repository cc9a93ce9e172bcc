/** The extension point `endpoints`: requests to the network's own routes. It needs contract 1.1. */

import type { Effect } from "./effects.ts";
import type { HandlerContext } from "./events.ts";

export { Reject, Retry } from "./events.ts";

/** A sender: with a key, a stranger, the holder of the signature's secret, or a person of the network's staff. */
export type CallerKind = "KEY" | "PUBLIC" | "SIGNED" | "PERSON";

/** The sender of a request. */
export interface Caller {
  kind: CallerKind;
  /** Id of the key or the person; otherwise empty. */
  id: string;
  /** Servers that a key is bound to; empty: none. */
  servers: string[];
}

/** A request, after the hub has checked its route, size, signature and schema. */
export interface Request {
  /** Name of the endpoint in `module.toml`. */
  endpoint: string;
  /** `GET`, `POST`, `PUT`, `PATCH` or `DELETE`. */
  method: string;
  /** The path after the module's name. */
  path: string;
  /** Parameters of the path by name. */
  parameters: Record<string, string>;
  /** The query, decoded, in its order: up to 64 pairs. {@link query} finds one. */
  query: [name: string, value: string][];
  /** `content-type` and those that `module.toml` lists, by name in lower case. */
  headers: Record<string, string>;
  /** Up to 64 KiB. {@link bodyJson} and {@link bodyText} read it. */
  body: Uint8Array;
  /** Key by which repeats are recognised; `null` if the endpoint has none. */
  dedupe: string | null;
  caller: Caller;
  /** Tells addresses of clients apart, within a day. */
  addressHash: string;
  /** Address of the client; `null` unless the owner granted `players:ip`. */
  address: string | null;
}

/** An answer. {@link json}, {@link text}, {@link error} and {@link empty} make one. */
export interface Response {
  /** 200 to 299, 303, or 400 to 422 except 401, 403 and 413. */
  status: number;
  /** `content-type`, `cache-control`, `etag`, `location` and `x-…`, in lower case: up to 16, 4 KiB. */
  headers?: Record<string, string>;
  /** Up to 256 KiB; a text is sent as UTF-8. */
  body?: string | Uint8Array;
  /** Committed before the answer is sent. None for `GET`. */
  effects?: Effect[];
}

/** Answers requests: `export const endpoints: Endpoints = { answer(context, request) { … } }`. */
export interface Endpoints {
  /**
   * Answers a request to one of the endpoints that `module.toml` lists. What is wrong with a request is an answer,
   * such as {@link error} with 400. Whatever is thrown, a {@link Retry}, {@link Reject} or `HostError` too, is a failure:
   * nothing of the call is kept, and the caller gets 502 `module_failed`.
   */
  answer(context: HandlerContext, request: Request): Response;
}

/** Headers and effects of an answer. */
export type Also = Pick<Response, "headers" | "effects">;

/** An answer in JSON. */
export const json = (status: number, value: unknown, also: Also = {}): Response =>
  ({ status, body: JSON.stringify(value), ...also, headers: { "content-type": "application/json", ...also.headers } });

/** An answer in plain text. */
export const text = (status: number, body: string, also: Also = {}): Response =>
  ({ status, body, ...also, headers: { "content-type": "text/plain; charset=utf-8", ...also.headers } });

/** An error in the form of the hub's own: `{"error": message, "code": code}`. */
export const error = (status: number, code: string, message: string): Response =>
  json(status, { error: message, code });

/** An answer without a body, such as 204. */
export const empty = (status = 204, also: Also = {}): Response => ({ status, ...also });

/** The first value of a name in the query; `null` if it is not there. */
export const query = (request: Request, name: string): string | null =>
  request.query.find(([found]) => found === name)?.[1] ?? null;

/** The body as text; `null` if it is not UTF-8. */
export function bodyText({ body }: Request): string | null {
  let bytes = "";
  for (let at = 0; at < body.length; at += 4096) bytes += String.fromCharCode(...body.subarray(at, at + 4096));
  try {
    return /[\x80-\xff]/.test(bytes) ? decodeURIComponent(escape(bytes)) : bytes;
  } catch {
    return null;
  }
}

/**
 * The body read as JSON; `undefined` if it is none. The hub has checked it against the endpoint's schema, if there is
 * one.
 */
export function bodyJson(request: Request): unknown {
  try {
    return JSON.parse(bodyText(request) ?? "");
  } catch {
    return undefined;
  }
}
