import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/** A link that can be cut as networks are: connections stay, nothing comes through, and what was sent arrives when it heals. */
export class Link {
  private readonly pairs = new Set<[near: Socket, far: Socket]>();
  private isCut = false;

  private constructor(
    private readonly server: Server,
    private readonly target: number,
  ) {
    server.on("connection", (near) => this.serve(near));
  }

  static async to(target: number): Promise<Link> {
    const server = createServer({ pauseOnConnect: true }).listen(0, "127.0.0.1");
    await once(server, "listening");
    return new Link(server, target);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as { port: number }).port}`;
  }

  private serve(near: Socket): void {
    const far = connect(this.target, "127.0.0.1");
    const pair: [Socket, Socket] = [near, far];
    this.pairs.add(pair);
    for (const [from, to] of [[near, far], [far, near]] as const) {
      from.on("data", (bytes) => void to.write(bytes));
      // Data that was sent before the end, or while the link was cut, still arrives.
      from.on("end", () => to.end());
      from.on("error", () => to.destroy());
      from.on("close", () => this.pairs.delete(pair));
      if (this.isCut) from.pause();
      else from.resume();
    }
  }

  cut(): void {
    this.isCut = true;
    for (const socket of [...this.pairs].flat()) socket.pause();
  }

  heal(): void {
    this.isCut = false;
    for (const socket of [...this.pairs].flat()) socket.resume();
  }

  /** Ends all connections, as a router does that restarts. */
  dropConnections(): void {
    for (const socket of [...this.pairs].flat()) socket.destroy();
  }

  close(): void {
    this.dropConnections();
    this.server.close();
  }
}
