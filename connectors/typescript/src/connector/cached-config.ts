import { isDeepStrictEqual } from "node:util";
import type { HubClient } from "../client.js";
import { describe } from "../errors.js";
import type { Logger } from "../logger.js";

/**
 * A config document that is kept current. Before the first answer of the hub it is the plugin's default; while the hub is away it is
 * what was known last.
 */
export class CachedConfig<T> {
  private readonly listeners: ((doc: T) => void)[] = [];
  private doc: T;
  private reads = 0;
  /** Number of the read whose answer is kept; that of an earlier one that comes late is dropped. */
  private kept = 0;

  constructor(
    private readonly client: HubClient,
    private readonly log: Logger,
    readonly group: string,
    readonly namespace: string,
    private readonly defaultDoc: T,
  ) {
    this.doc = defaultDoc;
  }

  /** The document now. */
  get(): T {
    return this.doc;
  }

  /** Calls this with each other document from now on. */
  onChange(listener: (doc: T) => void): this {
    this.listeners.push(listener);
    return this;
  }

  /** Registers the default, which returns the effective document. @internal */
  async refresh(): Promise<void> {
    this.reads += 1;
    const number = this.reads;
    const read = (await this.client.config.register(this.group, this.namespace, this.defaultDoc)).doc as T;
    if (number < this.kept) return;
    this.kept = number;
    if (isDeepStrictEqual(read, this.doc)) return;
    this.doc = read;
    for (const listener of this.listeners) {
      try {
        listener(read);
      } catch (error) {
        this.log.warn(`A listener of config ${this.group}/${this.namespace} failed: ${describe(error)}`);
      }
    }
  }
}
