import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HubClient } from "network-hub-connector";

const BINARY = process.env.HUB_BINARY ?? "hub";

/** A hub of its own in a folder of its own, on a port that stays the same. */
export class Hub {
  private process: ChildProcess | undefined;

  private constructor(
    private readonly folder: string,
    readonly port: number,
    /** A key of the network's owner. */
    readonly key: string,
  ) {}

  static async start(): Promise<Hub> {
    const folder = mkdtempSync(join(tmpdir(), "hub-connector-test-"));
    const made = execFileSync(BINARY, ["admin", "network", "create", "tests", "--json", "--data", folder], { encoding: "utf8" });
    const hub = new Hub(folder, await freePort(), (JSON.parse(made) as { apiKey: string }).apiKey);
    await hub.start();
    return hub;
  }

  async start(): Promise<void> {
    const log = openSync(join(this.folder, "log"), "a");
    const serve = ["serve", "--listen", `127.0.0.1:${this.port}`, "--data", this.folder];
    this.process = spawn(BINARY, serve, { env: { ...process.env, HUB_LOG: "warn" }, stdio: ["ignore", "pipe", log] });
    const first = await Promise.race([once(this.process.stdout!, "data"), once(this.process, "exit")]);
    if (!Buffer.isBuffer(first[0])) throw new Error("the hub did not start: " + readFileSync(join(this.folder, "log"), "utf8"));
  }

  /** Without a chance to clean up, as by kill -9. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    if (this.process === undefined || this.process.exitCode !== null || this.process.signalCode !== null) return;
    const exited = once(this.process, "exit");
    this.process.kill(signal);
    await exited;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  client(url = this.url): HubClient {
    return new HubClient({ url, apiKey: this.key });
  }

  async close(): Promise<void> {
    await this.kill("SIGTERM");
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A port below those that systems give to connections, any of which could take it before a program listens. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    const server = createServer().listen(port, "127.0.0.1");
    const isFree = await once(server, "listening").then(() => true, () => false);
    server.close();
    if (isFree) return port;
  }
}
