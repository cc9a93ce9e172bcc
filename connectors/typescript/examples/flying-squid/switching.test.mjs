// Players switch servers at random while servers and the hub are killed. Their items, deliveries and places are counted.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { HubClient } from "network-hub-connector";
import { Carrier } from "./carrier.mjs";
import { freePort } from "./network.mjs";
import { startProxy } from "./proxy.mjs";
import { HOST } from "./settings.mjs";

const BINARY = process.env.HUB_BINARY ?? "hub";
const SWITCHES = Number(process.env.SWITCHES ?? 200);
const SERVERS = ["lobby-1", "lobby-2", "lobby-3"];
const PLAYERS = ["Ann", "Ben", "Cat", "Dan"];
const cleanUp = [];
after(async () => {
  for (const stop of cleanUp.reverse()) await stop();
});

/** A process that prints something when it is ready, and is killed and started again. */
class Restarted {
  constructor(command, args, env = {}) {
    this.start = async () => {
      this.process = spawn(command, args, { env: { ...process.env, HUB_LOG: "error", ...env }, stdio: ["ignore", "pipe", "ignore"] });
      const [text] = await Promise.race([once(this.process.stdout, "data"), once(this.process, "exit")]);
      if (!Buffer.isBuffer(text)) throw new Error(`${command} ${args} did not start`);
      this.process.stdout.resume();
    };
    cleanUp.push(() => this.kill());
  }

  async kill() {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const exited = once(this.process, "exit");
    this.process.kill("SIGKILL");
    await exited;
  }
}

test(`items, deliveries and places outlive ${SWITCHES} switches`, { timeout: 900_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "hub-switching-"));
  cleanUp.push(() => rm(folder, { recursive: true, force: true }));
  const made = execFileSync(BINARY, ["admin", "network", "create", "switching", "--json", "--data", folder], { stdio: ["ignore", "pipe", "ignore"] });
  const { apiKey } = JSON.parse(made);
  const url = `http://${HOST}:${await freePort()}`;
  const hub = new Restarted(BINARY, ["serve", "--listen", new URL(url).host, "--data", folder]);
  await hub.start();
  const owner = new HubClient({ url, apiKey });
  const servers = [];
  for (const id of SERVERS) {
    const script = new URL("server-process.mjs", import.meta.url).pathname;
    const args = [script, id, "lobby-squid", String(await freePort())];
    servers.push(new Restarted(process.execPath, args, { HUB_URL: url, HUB_KEY: apiKey }));
  }
  await Promise.all(servers.map((server) => server.start()));
  const port = await freePort();
  const proxy = await startProxy(owner, { serverId: "proxy", port });
  cleanUp.push(() => proxy.stop());

  const players = PLAYERS.map((name) => new Carrier(name, port));
  cleanUp.push(() => players.forEach((player) => player.leave()));
  // All wait for a game that no server runs.
  for (const player of players) {
    assert.ok(await player.sees("Welcome to"), `${player.name} is not there`);
    player.say("/wait");
    assert.ok(await player.sees("You are number"), `${player.name} waits nowhere`);
  }
  const tickets = await places(owner);

  let isOver = false;
  const bought = new Map(players.map((player) => [player, []]));
  const carry = async (player) => {
    for (let at = 0; at < SWITCHES / players.length; at += 1) {
      const order = { playerUuid: player.uuid, kind: "item", payload: { item: "diamond" }, reference: `${player.name}-${at}`, onLost: "RETRY" };
      const { deliveryId } = await until(() => owner.deliveries.create(order));
      bought.get(player).push(deliveryId);
      const from = player.lines.length;
      const here = player.lines.findLast((line) => line.startsWith("Welcome to"));
      const others = SERVERS.filter((server) => here !== `Welcome to ${server}`);
      player.say(`/go ${others[Math.floor(Math.random() * others.length)]}`);
      // A switch that a kill came between is a new visit, to whatever server.
      await player.sees("Welcome to", from, 4_000);
    }
  };
  const kill = async (victims, pauseMs) => {
    while (!isOver) {
      await sleep(pauseMs * (0.5 + Math.random()));
      if (isOver) return;
      const victim = victims[Math.floor(Math.random() * victims.length)];
      await victim.kill();
      await sleep(Math.random() * 1_000);
      await victim.start();
    }
  };
  const kills = [kill(servers, 8_000), kill([hub], 12_000)];
  await Promise.all(players.map(carry));
  isOver = true;
  await Promise.all(kills);

  for (const player of players) {
    const orders = bought.get(player);
    await eventually(`all that ${player.name} bought is delivered`, async () => {
      const { items } = await owner.call("GET", `/api/manage/deliveries?playerUuid=${player.uuid}&limit=200`);
      // A person lets what failed five times be tried again.
      for (const { deliveryId, state } of items) {
        if (state === "FAILED") await owner.call("POST", `/api/manage/deliveries/${deliveryId}/retry`);
      }
      return items.filter(({ deliveryId, state }) => orders.includes(deliveryId) && state === "DELIVERED").length === orders.length;
    }, 240);
    await eventually(`${player.name} sees all of it`, () => player.items === orders.length);
  }
  assert.deepEqual(await places(owner), tickets, "the places in the line");
  for (const player of players) player.leave();
  for (const player of players) {
    await eventually(`${player.name} is saved`, async () => (await owner.players.session(player.uuid)).state !== "OPEN");
    const { value } = await owner.players.getData(player.uuid, "global", "inventory");
    assert.equal(value.reduce((sum, { count }) => sum + count, 0), bought.get(player).length, player.name);
  }
});

/** The players who wait, in their order. */
async function places(owner) {
  const { items } = await owner.call("GET", `/api/manage/matchmaking/lines/${encodeURIComponent("type:nowhere")}/tickets?limit=50`);
  return items.map(({ ticketId }) => ticketId);
}

async function until(call) {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!error.isTransient) throw error;
      await sleep(200);
    }
  }
}

async function eventually(what, holds, seconds = 60) {
  for (const end = Date.now() + seconds * 1_000; ; await sleep(200)) {
    if (await holds()) return;
    assert.ok(Date.now() < end, `it did not happen: ${what}`);
  }
}
