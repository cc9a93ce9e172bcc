import { describe, HubError } from "./errors.js";
import type { ServerEvent } from "./generated/schemas.js";
import type { Logger } from "./logger.js";
import { delayAfter, sleep } from "./retry.js";
import { SseParser, type Frame } from "./sse.js";
import { path, readAnswer, type Transport } from "./transport.js";

/** Listener of a stream. Exceptions are logged and stop nothing. */
export interface EventStreamListener {
  /** An event, RESYNC and PING included. */
  onEvent(event: ServerEvent): void;
  /** The stream is open. */
  onOpen?(): void;
  /** The stream ended or could not be opened; it will be tried again. */
  onDisconnected?(why: HubError): void;
}

export interface EventStreamOptions {
  /** Server whose commands it carries; without one only events of the whole network. */
  readonly serverId?: string | undefined;
  /** The events it carries; without them the hub's usual ones. */
  readonly types?: Iterable<string> | undefined;
  readonly log?: Logger;
  /** Maximum silence of a stream; the hub pings every 15 s. */
  readonly silenceMs?: number;
}

const OPENING_MS = 10_000;
const DELAYS = { firstDelayMs: 500, maxDelayMs: 10_000 };

/**
 * One event stream that reconnects by itself. It resumes after the last event that the listener has handled; where the hub no longer
 * can, the listener gets RESYNC first and has to read again what it keeps. A stream that stays silent is taken for dead and
 * opened again. While the listener works no more is read.
 */
export class EventStream {
  private types: string[];
  private lastEventId: string | undefined;
  private retryMs: number | undefined;
  private isRunning = false;
  private readonly closed = new AbortController();
  private readonly log: Logger;

  constructor(
    private readonly transport: Transport,
    private readonly options: EventStreamOptions,
    private readonly listener: EventStreamListener,
  ) {
    this.types = [...(options.types ?? [])];
    this.log = options.log ?? console;
  }

  /** Opens the stream, and keeps it open. */
  open(): void {
    if (this.isRunning) return;
    this.isRunning = true;
    void this.run();
  }

  /** Closes the stream for good. */
  close(): void {
    this.closed.abort();
  }

  /** Changes the events to carry, from the next connection on. */
  setTypes(types: Iterable<string>): void {
    this.types = [...types];
  }

  private async run(): Promise<void> {
    let failures = 0;
    while (!this.closed.signal.aborted) {
      const { wasOpen, why } = await this.connect();
      if (this.closed.signal.aborted) return;
      failures = wasOpen ? 1 : failures + 1;
      this.guard(() => this.listener.onDisconnected?.(why));
      // A stream that was open ended with many others: the hub has said how to spread out.
      const delay = wasOpen && this.retryMs !== undefined ? this.retryMs : delayAfter(failures, DELAYS);
      await sleep(delay, this.closed.signal);
    }
  }

  /** One connection, from its request to its end. */
  private async connect(): Promise<{ wasOpen: boolean; why: HubError }> {
    const silenceMs = this.options.silenceMs ?? 40_000;
    const connection = new AbortController();
    const end = () => connection.abort(new Error(`nothing came for ${wasOpen ? silenceMs : OPENING_MS} ms`));
    const close = () => connection.abort();
    this.closed.signal.addEventListener("abort", close);
    let watchdog = setTimeout(end, OPENING_MS);
    let wasOpen = false;
    try {
      const response = await this.transport.request(this.call(), connection.signal);
      if (response.status !== 200 || response.body === null) readAnswer(response, await response.text());
      wasOpen = true;
      clearTimeout(watchdog);
      watchdog = setTimeout(end, silenceMs);
      this.guard(() => this.listener.onOpen?.());
      const parser = new SseParser();
      for await (const bytes of response.body ?? []) {
        clearTimeout(watchdog);
        watchdog = setTimeout(end, silenceMs);
        for (const frame of parser.feed(bytes as Uint8Array)) {
          if (this.closed.signal.aborted) break;
          this.handle(frame);
          this.retryMs = parser.retryMs ?? this.retryMs;
        }
      }
      return { wasOpen, why: HubError.unreachable(new Error("the hub ended the event stream")) };
    } catch (thrown) {
      return { wasOpen, why: HubError.unreachable(connection.signal.aborted ? connection.signal.reason : thrown) };
    } finally {
      clearTimeout(watchdog);
      this.closed.signal.removeEventListener("abort", close);
      connection.abort();
    }
  }

  private call() {
    const headers: Record<string, string> = { Accept: "text/event-stream" };
    if (this.lastEventId !== undefined) headers["Last-Event-ID"] = this.lastEventId;
    const types = this.types.length > 0 ? this.types.join(",") : undefined;
    return { method: "GET", path: path`events`, query: { serverId: this.options.serverId, types }, headers };
  }

  private handle(frame: Frame): void {
    if (frame.data !== undefined) {
      this.guard(() => {
        const data = JSON.parse(frame.data ?? "") as ServerEvent;
        this.listener.onEvent(frame.event === undefined ? data : ({ ...data, type: frame.event } as ServerEvent));
      });
    }
    // After the listener: what it has not handled comes again.
    if (frame.id !== undefined) this.lastEventId = frame.id;
  }

  private guard(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.log.warn(`A listener of the event stream failed: ${describe(error)}`);
    }
  }
}
