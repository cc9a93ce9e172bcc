// The network: `hub demo`, and Minestom servers of its network.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile, open } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { HOST, until } from "./player.js";

export async function freePort() {
  const server = createServer().listen(0, HOST);
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/** A program that says in a line that it is ready. Its output goes to a file. */
class Program {
  #process = null;

  constructor(command, log, readyLine) {
    Object.assign(this, { command, log, readyLine });
  }

  async start() {
    const [program, ...args] = this.command;
    const log = await open(this.log, "a");
    const started = spawn(program, args, { env: { ...process.env, HUB_URL: "", HUB_KEY: "" }, stdio: ["ignore", "pipe", log.fd] });
    await log.close();
    this.#process = started;
    const seen = [];
    const file = await open(this.log, "a");
    const output = createInterface({ input: started.stdout });
    output.on("line", (line) => {
      if (seen.length < 200) seen.push(line);
      this.onLine?.(line);
      file.appendFile(`${line}\n`).catch(() => {});
    });
    started.once("exit", () => file.close().catch(() => {}));
    await until(`${program} is ready; see ${this.log}`, () => seen.some((line) => line.includes(this.readyLine)) || started.exitCode !== null, 180_000);
    if (started.exitCode !== null) throw new Error(`${program} ended: see ${this.log}`);
    return seen;
  }

  async end(signal) {
    const running = this.#process;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    const ended = once(running, "exit");
    running.kill(signal);
    await ended;
  }
}

/** A Minestom server. */
class GameServer {
  constructor(network, { id, type, region, slots, port }) {
    Object.assign(this, { network, id, type, region, slots, port });
    this.folder = join(network.folder, id);
    const options = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];
    const main = ["networkhub.example.minestom.MinestomServer", this.folder, String(port), String(slots)];
    const java = join(process.env.JAVA_25_HOME, "bin", "java");
    this.program = new Program([java, ...options, "-cp", process.env.MINESTOM_CLASSPATH, ...main], `${this.folder}.log`, "listening on");
  }

  async start() {
    await mkdir(this.folder, { recursive: true });
    const settings = { url: this.network.url, key: this.network.serverKey, "server-id": this.id, type: this.type, region: this.region,
      host: HOST, "player-data": "items" };
    await writeFile(join(this.folder, "config.properties"), Object.entries(settings).map((entry) => `${entry.join("=")}\n`).join(""));
    await this.program.start();
    await until(`${this.id} is online at the hub`, async () => {
      const { items } = await this.network.call("GET", `/api/plugin/servers?search=${this.id}`);
      return items.some((server) => server.serverId === this.id && server.status === "ONLINE");
    });
  }

  /** Ends it without a warning. */
  kill() {
    return this.program.end("SIGKILL");
  }
}

export class Network {
  constructor(folder) {
    this.folder = folder;
  }

  /** Starts the hub; the port 0 is a free one. */
  async start(port = 0) {
    const command = [process.env.HUB_BINARY, "demo", "--listen", `${HOST}:${port}`, "--data", join(this.folder, "hub")];
    this.hub = new Program(command, join(this.folder, "hub.log"), "What happens from here on");
    const seen = await this.hub.start();
    const value = (pattern) => seen.map((line) => pattern.exec(line)?.[1]).find(Boolean);
    this.url = value(/^listening on (.*)/);
    this.ownerKey = value(/Keys +HUB_KEY=(\S+)/);
    // The demo's own keys end when it starts again.
    this.serverKey ??= (await this.call("POST", "/api/manage/keys", { name: "Minestom", scopes: ["plugin"] })).apiKey;
    this.accounts = seen.filter((line) => line.includes("@demo.example")).map((line) => line.trim());
  }

  /** Ends the hub without a warning, and starts it again. */
  async killHub() {
    await this.hub.end("SIGKILL");
    await this.start(new URL(this.url).port);
  }

  /** Starts the lobby and two arenas, with room for two players each. */
  async startServers(port = null) {
    const servers = [
      { id: "meadow-lobby", type: "meadow", region: "EUROPE", slots: 100 },
      // The hub alone would take the first one.
      { id: "arena-1", type: "arena", region: "NORTH_AMERICA", slots: 2 },
      { id: "arena-2", type: "arena", region: "EUROPE", slots: 2 },
    ];
    this.servers = [];
    for (const [at, server] of servers.entries()) {
      this.servers.push(new GameServer(this, { ...server, port: port === null ? await freePort() : port + at }));
    }
    [this.lobby, ...this.arenas] = this.servers;
    await this.call("POST", "/api/plugin/config/publish", { group: "network", namespace: "network-hub",
      doc: { lobbyType: "meadow", networkChat: true, currency: "coins" } });
    await this.call("PUT", "/api/manage/economy/currencies/coins", { minimum: 0, startingBalance: 100 });
    await Promise.all(this.servers.map((server) => server.start()));
  }

  /** Calls the hub as the owner; without a key where the route is public. */
  async call(method, path, body) {
    const headers = path.startsWith("/api/public/") ? {} : { "X-Service-Api-Key": this.ownerKey };
    if (body) headers["Content-Type"] = "application/json";
    const response = await fetch(this.url + path, { method, headers, body: body && JSON.stringify(body) });
    const answer = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${answer}`);
    return answer ? JSON.parse(answer) : null;
  }

  /** The server that the hub knows a player on; null for none. */
  async place(player) {
    const { connection } = await this.call("GET", `/api/plugin/players/${player.uuid}`);
    return connection?.serverId ?? null;
  }

  async stop() {
    await Promise.all((this.servers ?? []).map((server) => server.program.end("SIGTERM")));
    await this.hub?.end("SIGTERM");
  }
}
