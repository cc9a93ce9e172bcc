// The examples of the guide and the README at work.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { HubConnector, type HubClient } from "network-hub-connector";
import { Backpacks, connectorWithBackpacks, waitForDuel } from "../examples/backpacks.js";
import { buy, change, join, playTogether, visitIsland } from "../examples/recipes.js";
import { eventually } from "./support/eventually.js";
import { FakeGame, quiet } from "./support/game.js";
import { Hub } from "./support/hub.js";

let hub: Hub;
let owner: HubClient;
let lobby: HubConnector;
const game = new FakeGame();
const connectors: HubConnector[] = [];

before(async () => {
  hub = await Hub.start();
  owner = hub.client();
  lobby = await connect("lobby-1", "lobby");
});

after(async () => {
  await Promise.all(connectors.map((connector) => connector.stop()));
  await hub.close();
});

async function connect(serverId: string, serverType: string, prepare = (_: HubConnector) => {}): Promise<HubConnector> {
  const server = { serverId, serverType, host: "10.0.0.1", port: 1, maxPlayers: 8 };
  const messages = { en: { welcome: "Welcome" } };
  const connector = new HubConnector(hub.client(), { server, game, namespaces: ["game"], messages, log: quiet });
  connectors.push(connector);
  prepare(connector);
  await connector.connect();
  return connector;
}

test("the smallest server is listed, has its player, and answers its console", async () => {
  const script = new URL("../examples/smallest-server.js", import.meta.url).pathname;
  const env = { ...process.env, HUB_URL: hub.url, HUB_KEY: hub.key };
  const server = spawn(process.execPath, [script], { env, stdio: ["ignore", "ignore", "inherit"] });
  try {
    await eventually("its player is online", async () => (await owner.servers.onlinePlayers("lobby")).length === 1);
    const path = "/api/manage/servers/my-node-server/command";
    assert.equal((await owner.call<{ output: string }>("POST", path, { command: "hello" })).output, "you said hello");
  } finally {
    server.kill();
    await once(server, "exit");
  }
  const left = await owner.servers.list({ search: "my-node-server", online: true });
  assert.equal(left.total, 0);
});

test("a player is let in, or told why not", async () => {
  const player = randomUUID();
  assert.equal(await join(lobby, player, "Ann", "203.0.113.1"), "Welcome, Ann");
  await owner.punishments.punish({ playerUuid: player, type: "BAN", reason: "cheating" });
  assert.equal(await join(lobby, player, "Ann", "203.0.113.1"), "banned: cheating");
});

test("of ten sales at once three can be paid", async () => {
  const player = randomUUID();
  await owner.economy.modify({ ownerType: "player", ownerKey: player, currency: "coins", amount: 10 });
  const sales = await Promise.all(Array.from({ length: 10 }, () => buy(lobby, player, 3)));
  assert.equal(sales.filter(Boolean).length, 3);
});

test("changes of data are never lost", async () => {
  const player = randomUUID();
  const rise = () => change(lobby, player, { level: 0 }, ({ level }) => ({ level: level + 1 }));
  await Promise.all(Array.from({ length: 20 }, rise));
  assert.deepEqual((await owner.players.getData(player, "skyblock", "profile"))?.value, { level: 20 });
});

test("a party is sent whole", async () => {
  await connect("bedwars-1", "bedwars");
  const party = [randomUUID(), randomUUID()];
  for (const player of party) lobby.playerJoined(player, "Somebody");
  const before = game.transfers.length;
  assert.ok((await playTogether(lobby, party[0]!, party)).success);
  await eventually("both are sent", () => game.transfers.length === before + 2);
});

test("an island is opened and visited", async () => {
  await connect("node-1", "islands", (node) => {
    node.on("WORLD_OPEN", async ({ worldId, fence }) => {
      await node.client.worlds.ready(worldId, "node-1", fence);
    });
  });
  const player = randomUUID();
  lobby.playerJoined(player, "Ben");
  assert.ok((await visitIsland(lobby, player)).success);
  await eventually("the player is sent", () => game.transfers.at(-1)?.playerUuid === player);
  assert.match(game.transfers.at(-1)?.targetWorldId ?? "", /\d/);
});

test("backpacks move with players, and lines send them", async () => {
  const [player, visits] = [randomUUID(), new FakeGame()];
  const packs = [new Backpacks(), new Backpacks()] as const;
  const servers = [];
  for (const [at, pack] of packs.entries()) {
    const server = { serverId: `packs-${at}`, serverType: "packs", host: "10.0.0.1", port: 1, maxPlayers: 8 };
    const connector = connectorWithBackpacks(hub.client(), { server, game: visits, log: quiet }, pack);
    connectors.push(connector);
    await connector.connect();
    servers.push(connector);
  }
  await owner.deliveries.create({ playerUuid: player, kind: "item", payload: { item: "sword" } });
  servers[0]?.playerJoined(player, "Ann");
  await eventually("the purchase is there", () => packs[0].items.get(player)?.sword === 1);
  servers[1]?.playerJoined(player, "Ann");
  await eventually("it has moved", () => packs[1].items.get(player)?.sword === 1);
  assert.ok(!packs[0].items.has(player));
  assert.equal(await waitForDuel(servers[1]!, player), "you will be sent when it is your turn");
  await owner.servers.register({ serverId: "duels", serverType: "duels", host: "10.0.0.9", port: 1, maxPlayers: 2 });
  await eventually("the player is sent", () => visits.transfers.length === 1);
});
