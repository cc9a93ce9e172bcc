import { randomUUID } from "node:crypto";
import { HubError } from "./errors.js";
import { delayAfter, sleep, type RetryPolicy } from "./retry.js";

/** The values of a query; those that are undefined or null are left out. */
export type Query = Record<string, string | number | boolean | null | undefined>;

/** A request to the hub, before it is sent. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly query?: Query;
  readonly headers?: Record<string, string>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /**
   * Policy for repeating a call that may have been carried out: `safe`, because a second time changes nothing
   * more (unless set); `keyed`, because an `Idempotency-Key` makes it so; or `never`.
   */
  readonly repeat?: "safe" | "keyed" | "never";
}

/** Answer of the hub. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The JSON; undefined for an answer without a body. */
  readonly body: unknown;
}

/** A path below `/api/plugin`, whose values are escaped. */
export function path(parts: TemplateStringsArray, ...values: (string | number)[]): string {
  return "/api/plugin/" + String.raw({ raw: parts }, ...values.map((value) => encodeURIComponent(value)));
}

/** Sends calls, repeats those that may be, and reads the answers. */
export class Transport {
  constructor(
    private readonly url: string,
    private readonly key: string,
    private readonly timeoutMs: number,
    private readonly retry: RetryPolicy,
  ) {}

  /** The body of the answer. */
  async send<T>(call: Call): Promise<T> {
    return (await this.exchange(call)).body as T;
  }

  /** The same; undefined where the hub answers 404. */
  async find<T>(call: Call): Promise<T | undefined> {
    return this.send<T>(call).catch(ignoreMissing);
  }

  /** Deletes something; whether it was there. */
  async delete(path: string): Promise<boolean> {
    const answer = await this.exchange({ method: "DELETE", path }).catch(ignoreMissing);
    return answer !== undefined;
  }

  /** The answer to a call that the hub accepted. */
  async exchange(call: Call): Promise<Answer> {
    const headers: Record<string, string> = { ...call.headers };
    if (call.repeat === "keyed") headers["Idempotency-Key"] ??= randomUUID();
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.attempt({ ...call, headers });
      } catch (thrown) {
        const error = HubError.unreachable(thrown);
        const delay = error.retryAfterMs ?? delayAfter(attempt, this.retry);
        const mayRepeat = error.isTransient && (error.wasNeverSent || error.status === 429 || call.repeat !== "never");
        if (!mayRepeat || attempt >= this.retry.attempts || delay > this.retry.maxDelayMs) throw error;
        await sleep(delay);
      }
    }
  }

  private async attempt(call: Call): Promise<Answer> {
    const response = await this.request(call, AbortSignal.timeout(this.timeoutMs));
    return readAnswer(response, await response.text());
  }

  /** Sends a call once, and answers as soon as the headers are there. */
  request(call: Call, signal: AbortSignal): Promise<Response> {
    const url = new URL(this.url.replace(/\/+$/, "") + call.path);
    for (const [name, value] of Object.entries(call.query ?? {})) {
      if (value !== undefined && value !== null) url.searchParams.set(name, String(value));
    }
    const headers: Record<string, string> = { ...call.headers, "X-Service-Api-Key": this.key };
    const init: RequestInit = { method: call.method, headers, signal };
    if (call.body !== undefined) {
      headers["Content-Type"] = "application/json";
      init.body = JSON.stringify(call.body);
    }
    return fetch(url, init);
  }
}

/** Reads an answer; throws what went wrong. */
export function readAnswer(response: Response, text: string): Answer {
  const { status, headers } = response;
  const body = parse(text);
  if (status < 300 || status === 304) {
    if (body === INVALID) {
      throw new HubError("invalid_answer", "The hub's answer is no JSON.", { status, ...requestIdOf(headers) });
    }
    return { status, headers, body };
  }
  // A gateway in front of the hub answers in a way of its own.
  const { code, error, requestId, ...details } = (typeof body === "object" ? body : {}) as Record<string, string | undefined>;
  const unknown = status >= 500 || status === 429 ? `http_${status}` : "invalid_answer";
  const retryAfter = Number(headers.get("Retry-After") ?? NaN);
  throw new HubError(code ?? unknown, error ?? `The hub's address answered ${status} without saying why.`, {
    status,
    ...(requestId === undefined ? requestIdOf(headers) : { requestId }),
    ...(Number.isFinite(retryAfter) ? { retryAfterMs: Math.max(0, retryAfter * 1000) } : {}),
    details,
  });
}

const NOT_MISSING = new Set<string>(["invalid_answer", "unknown_route"]);

/** A 404 that says that a thing is missing, not the route or the hub. */
function ignoreMissing(error: unknown): undefined {
  if (!(error instanceof HubError) || error.status !== 404 || NOT_MISSING.has(error.code)) throw error;
}

const INVALID = Symbol("not JSON");

function parse(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return INVALID;
  }
}

function requestIdOf(headers: Headers): { requestId?: string } {
  const requestId = headers.get("X-Request-Id");
  return requestId === null ? {} : { requestId };
}
