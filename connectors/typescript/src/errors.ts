import type { ErrorCode, ErrorDetails } from "./generated/schemas.js";

/** The codes that this library adds to those of the hub. */
export type ConnectorErrorCode = "unreachable" | "invalid_answer" | "invalid_amount" | "muted" | "world_timeout" | "stopped"
  | "no_session";

/** A code of the hub, of this library, or of a gateway in between, such as `http_502`. */
export type HubErrorCode = ErrorCode | ConnectorErrorCode | (string & {});

/**
 * Failure of a call. `code` is stable and for programs, `message` for people. `unreachable` says that no answer came: the
 * request may or may not have been carried out.
 */
export class HubError extends Error {
  override readonly name = "HubError";
  readonly code: HubErrorCode;
  /** The HTTP status; 0 where there was no answer. */
  readonly status: number;
  /** The request's id in the hub's log, to be quoted in reports. */
  readonly requestId: string | undefined;
  /** Wait that the hub asks for before the next attempt. */
  readonly retryAfterMs: number | undefined;
  /** The error's further fields, such as `limit`, `value` and `used` of `quota_exceeded`. */
  readonly details: ErrorDetails;

  constructor(
    code: HubErrorCode,
    message: string,
    more: { status?: number; requestId?: string; retryAfterMs?: number; details?: ErrorDetails; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause });
    this.code = code;
    this.status = more.status ?? 0;
    this.requestId = more.requestId;
    this.retryAfterMs = more.retryAfterMs;
    this.details = more.details ?? {};
  }

  /** True if a later attempt may succeed: no answer, a hub that is stopping or overloaded, or a rate limit. */
  get isTransient(): boolean {
    return this.code === "unreachable" || [429, 502, 503, 504].includes(this.status);
  }

  /** True if the request certainly never reached the hub. */
  get wasNeverSent(): boolean {
    const neverSent = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"];
    return this.code === "unreachable" && neverSent.includes(codeOf(this.cause));
  }

  /** True if a thrown value is an error of the hub with this code. */
  static is(thrown: unknown, code: HubErrorCode): thrown is HubError {
    return thrown instanceof HubError && thrown.code === code;
  }

  /** Something that `fetch` threw: there was no answer. */
  static unreachable(cause: unknown): HubError {
    if (cause instanceof HubError) return cause;
    return new HubError("unreachable", `The hub does not answer: ${describe(cause)}`, { cause });
  }
}

/** The code of an error of Node, which `fetch` wraps in another one. */
function codeOf(cause: unknown): string {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  return inner instanceof Error && "code" in inner ? String(inner.code) : "";
}

/** Returns the failure as a sentence. */
export function describe(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  // `fetch failed` says nothing; its cause does.
  const inner = cause.cause instanceof Error ? cause.cause : cause;
  return inner.message || codeOf(cause) || inner.name;
}
