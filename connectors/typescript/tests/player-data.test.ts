// Data that moves with players, against real hubs that are killed meanwhile.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, test } from "node:test";
import type { HubClient } from "network-hub-connector";
import { eventually } from "./support/eventually.js";
import { Hub } from "./support/hub.js";
import { GameServerWithData, sessionIs, stored } from "./support/server.js";

let hub: Hub;
let owner: HubClient;
let player: string;
let servers: GameServerWithData[];

beforeEach(async () => {
  hub = await Hub.start();
  owner = hub.client();
  player = randomUUID();
  servers = [];
});

afterEach(async () => {
  await Promise.all(servers.map(({ connector }) => connector.stop()));
  await hub.close();
});

async function start(autosaveMs?: number): Promise<GameServerWithData> {
  const server = await GameServerWithData.start(hub, undefined, autosaveMs);
  servers.push(server);
  return server;
}

test("data moves with a player", async () => {
  const a = await start();
  const b = await start();
  await a.join(player);
  assert.deepEqual(a.inventories.applied, [{}]);
  a.inventories.give(player, "diamond");
  const fence = a.connector.playerData.fence(player) ?? 0;
  // The other server sees the player first, as where this one lags.
  b.connector.playerJoined(player, "Ann");
  await b.has(player);
  assert.deepEqual(b.inventories.of(player), { diamond: 1 });
  assert.deepEqual(a.inventories.endings, ["REQUESTED"]);
  assert.ok((b.connector.playerData.fence(player) ?? 0) > fence);
  await assert.rejects(a.connector.playerData.save(player), { code: "no_session" });
  a.leave(player);
  b.inventories.give(player, "diamond");
  b.leave(player);
  await sessionIs(owner, player, "CLOSED");
  assert.deepEqual(await stored(owner, player), { diamond: 2 });
});

test("saves are made by themselves and when asked for", async () => {
  const a = await start(200);
  await a.join(player);
  a.inventories.give(player, "stone");
  await eventually("the autosave was made", async () => (await stored(owner, player)).stone === 1);
  const { playerData } = a.connector;
  playerData.put(player, "notes", { text: "hello" });
  await playerData.save(player);
  assert.deepEqual(playerData.get(player, "notes"), { text: "hello" });
  assert.deepEqual(await owner.players.getData(player, "global", "notes"), { value: { text: "hello" }, version: 1 });
  // What has not changed is not saved again.
  await playerData.save(player);
  assert.equal((await owner.players.getData(player, "global", "inventory"))?.version, 1);
});

test("a lost session stops saving and is opened again when it is free", async () => {
  const a = await start();
  await a.join(player);
  a.inventories.give(player, "stone");
  await a.connector.playerData.save(player);
  // Another server takes the player over, and this one hears nothing of it.
  await owner.servers.register({ serverId: "stranger", serverType: "games", host: "10.0.0.2", port: 1 });
  Object.assign(a.connector.playerData, { requested: () => {}, sessionEnded: () => {} });
  const opened = await owner.players.openSession(player, { serverId: "stranger", waitMs: 0 });
  assert.ok(opened.takenOver);
  a.inventories.give(player, "late");
  await assert.rejects(a.connector.playerData.save(player), { code: "stale_session" });
  assert.deepEqual(a.inventories.endings, ["LOST"]);
  await owner.players.saveSession(player, opened.fence, { close: true });
  await a.has(player);
  assert.deepEqual(a.inventories.of(player), { stone: 1 });
});

test("a stopping server saves its players", async () => {
  const a = await start();
  await a.join(player);
  a.inventories.give(player, "stone");
  await a.connector.stop();
  await sessionIs(owner, player, "CLOSED");
  assert.deepEqual(await stored(owner, player), { stone: 1 });
});

test("who comes and goes leaves no session open", async () => {
  const [a, b] = [await start(), await start()];
  for (let visit = 0; visit < 5; visit += 1) {
    a.connector.playerJoined(player, "Ann");
    a.leave(player);
  }
  await b.join(player);
  b.leave(player);
  await sessionIs(owner, player, "CLOSED");
});

test("items are neither lost nor doubled by switches", async () => {
  const all = [await start(100), await start(100), await start(100)];
  let [here] = all as [GameServerWithData];
  await here.join(player);
  for (let given = 1; given <= 60; given += 1) {
    here.inventories.give(player, "diamond");
    const others = all.filter((server) => server !== here);
    const there = others[Math.floor(Math.random() * others.length)] ?? here;
    const isFirst = Math.random() < 0.5;
    if (isFirst) here.leave(player);
    there.connector.playerJoined(player, "Ann");
    if (!isFirst) {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 50));
      here.leave(player);
    }
    if (given % 20 === 10) {
      // The last save is repeated until the hub is back; the session waits for it.
      await hub.kill();
      await hub.start();
    }
    await there.has(player);
    assert.deepEqual(there.inventories.of(player), { diamond: given });
    here = there;
  }
  here.leave(player);
  await sessionIs(owner, player, "CLOSED");
  assert.deepEqual(await stored(owner, player), { diamond: 60 });
});
