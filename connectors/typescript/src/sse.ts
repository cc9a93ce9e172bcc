/** A frame of server-sent events. */
export interface Frame {
  readonly event: string | undefined;
  readonly data: string | undefined;
  /** The id to resume from, of this frame or an earlier one. */
  readonly id: string | undefined;
}

/** Reads server-sent events from bytes, however they are cut. */
export class SseParser {
  /** Wait that the server asks for before reconnecting. */
  retryMs: number | undefined;
  private readonly decoder = new TextDecoder();
  private rest = "";
  private event: string | undefined;
  private data: string | undefined;
  private id: string | undefined;

  /** The frames that end in these bytes. */
  *feed(bytes: Uint8Array): Generator<Frame> {
    this.rest += this.decoder.decode(bytes, { stream: true });
    // A line ends with \n, \r or \r\n; whether a \r at the end is followed by \n shows the next time.
    for (let end = this.rest.search(/\n|\r[^]/); end >= 0; end = this.rest.search(/\n|\r[^]/)) {
      const line = this.rest.slice(0, end);
      this.rest = this.rest.slice(this.rest.startsWith("\r\n", end) ? end + 2 : end + 1);
      if (line !== "") {
        this.readField(line);
      } else if (this.event !== undefined || this.data !== undefined || this.id !== undefined) {
        yield { event: this.event, data: this.data, id: this.id };
        this.event = this.data = undefined;
      }
    }
  }

  private readField(line: string): void {
    const [, name, value = ""] = /^([^:]*)(?:: ?([^]*))?$/.exec(line) ?? [];
    if (name === "event") this.event = value;
    else if (name === "data") this.data = this.data === undefined ? value : `${this.data}\n${value}`;
    else if (name === "id") this.id = value;
    else if (name === "retry" && /^\d{1,9}$/.test(value)) this.retryMs = Number(value);
  }
}
