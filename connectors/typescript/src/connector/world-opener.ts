import type { HubClient } from "../client.js";
import { HubError } from "../errors.js";
import type { LiveServer, OpenedWorld, ReadyWorld, WorldRequest } from "../generated/schemas.js";
import { now, persist } from "./time.js";

const REMEMBERED = 256;

/** Opens worlds and waits until they are up. */
export class WorldOpener {
  /** Waiting callers by lease; they get the world's server, or ask again. */
  private readonly waiting = new Map<string, Set<(server: LiveServer | "ask again") => void>>();
  /** Servers of recently opened worlds: the event may precede the answer. */
  private readonly up = new Map<string, LiveServer>();

  constructor(
    private readonly client: HubClient,
    private readonly stopped: AbortSignal,
  ) {}

  async open(request: WorldRequest, patienceMs: number): Promise<OpenedWorld> {
    const deadline = now() + patienceMs;
    for (;;) {
      const answer = await persist(() => this.client.worlds.open(request), deadline - now(), this.stopped);
      if (answer.status !== "LOADING" || answer.worldInstanceId === null) return answer;
      const server = this.up.get(answer.worldInstanceId) ?? (await this.wait(answer.worldInstanceId, deadline - now()));
      if (server !== "ask again") return { ...answer, status: "READY", matchedServer: server };
    }
  }

  private wait(lease: string, patienceMs: number): Promise<LiveServer | "ask again"> {
    return new Promise((resolve, reject) => {
      const waiting = this.waiting.get(lease) ?? new Set();
      this.waiting.set(lease, waiting);
      const fail = (error: HubError) => {
        settle();
        waiting.delete(told);
        reject(error);
      };
      const stop = () => fail(new HubError("stopped", "The connector was stopped."));
      const timer = setTimeout(() => fail(new HubError("world_timeout", "The world was not up in time.")), patienceMs);
      const settle = () => {
        clearTimeout(timer);
        this.stopped.removeEventListener("abort", stop);
      };
      const told = (server: LiveServer | "ask again") => {
        settle();
        resolve(server);
      };
      this.stopped.addEventListener("abort", stop);
      waiting.add(told);
    });
  }

  /** WORLD_READY. */
  ready({ worldInstanceId, server }: ReadyWorld): void {
    if (server === null) return;
    this.up.set(worldInstanceId, server);
    const [oldest] = this.up.keys();
    if (this.up.size > REMEMBERED && oldest !== undefined) this.up.delete(oldest);
    this.tell(worldInstanceId, server);
  }

  /** Events may have been missed: asks again, which opens nothing twice. */
  resync(): void {
    this.up.clear();
    for (const lease of this.waiting.keys()) this.tell(lease, "ask again");
  }

  private tell(lease: string, server: LiveServer | "ask again"): void {
    const waiting = this.waiting.get(lease) ?? [];
    this.waiting.delete(lease);
    for (const told of waiting) told(server);
  }
}
