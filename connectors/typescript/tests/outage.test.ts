// The connector while its hub is away.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, test } from "node:test";
import { HubConnector, type HubClient } from "network-hub-connector";
import { eventually } from "./support/eventually.js";
import { FakeGame, quiet } from "./support/game.js";
import { Hub } from "./support/hub.js";
import { Link } from "./support/link.js";

let hub: Hub;
let owner: HubClient;
let link: Link;
let connectors: HubConnector[];
let game: FakeGame;
let otherGame: FakeGame;
const [stays, leaves, joins, visits] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];

beforeEach(async () => {
  hub = await Hub.start();
  owner = hub.client();
  link = await Link.to(hub.port);
  connectors = [];
  game = new FakeGame();
  otherGame = new FakeGame();
});

afterEach(async () => {
  link.heal();
  await Promise.all(connectors.map((connector) => connector.stop()));
  link.close();
  await hub.close();
});

async function start(url: string, serverId: string, game: FakeGame, prepare = (_: HubConnector) => {}): Promise<HubConnector> {
  const server = { serverId, serverType: "games", host: "10.0.0.1", port: 25565 };
  const connector = new HubConnector(hub.client(url), { server, game, joinTimeoutMs: 10_000, log: quiet });
  connectors.push(connector);
  prepare(connector);
  await connector.connect();
  return connector;
}

async function join(connector: HubConnector, player: string, name: string): Promise<void> {
  assert.ok((await connector.checkJoin(player, name)).allowed);
  connector.playerJoined(player, name);
  await eventually("the player is online", async () => (await where(player)) !== undefined);
}

/** The server a player is on. */
async function where(player: string): Promise<string | undefined> {
  return (await owner.players.get(player))?.connection?.serverId;
}

async function reason(connector: HubConnector, player: string, ip?: string): Promise<string | undefined> {
  const decision = await connector.checkJoin(player, "Somebody", ip);
  return decision.allowed ? undefined : decision.reason;
}

test("nothing is lost when the hub is killed", async () => {
  const connector = await start(hub.url, "a", game);
  await start(hub.url, "b", otherGame);
  const [banned, clean] = [randomUUID(), randomUUID()];
  await join(connector, stays, "Stays");
  await join(connector, leaves, "Leaves");
  await owner.punishments.punish({ playerUuid: banned, type: "BAN", reason: "cheating" });
  await owner.punishments.punish({ playerUuid: leaves, type: "MUTE", reason: "spam" });
  await eventually("the ban and the mute are known", () => connector.punishments.all().length === 2);
  assert.ok((await connector.checkJoin(clean, "Clean", "203.0.113.1")).allowed);

  await hub.kill();
  connector.playerLeft(leaves);
  await eventually("the outage is noticed", () => !connector.status().registered && !connector.status().streamOpen);
  connector.playerJoined(joins, "Joins");
  connector.playerJoined(visits, "Visits");
  connector.playerLeft(visits);
  const transfer = connector.transfer(stays, "b");
  // Bans and mutes fail closed: what is known stays, and of whom nothing is known stays out.
  assert.equal(await reason(connector, banned), "BANNED");
  assert.equal(await reason(connector, randomUUID()), "NOT_VERIFIED");
  assert.equal(await reason(connector, clean, "203.0.113.1"), undefined);
  assert.equal(await reason(connector, clean, "203.0.113.2"), "NOT_VERIFIED");
  assert.ok(connector.punishments.isMuted(leaves));
  assert.ok(connector.punishments.isMuted(joins));
  assert.ok(!connector.punishments.isMuted(stays));
  assert.equal(connector.status().pendingChanges, 4);

  await hub.start();
  await eventually("the join was told", async () => (await where(joins)) === "a");
  await eventually("the leave was told", async () => (await where(leaves)) === undefined);
  await eventually("the visit was told", async () => (await owner.players.get(visits)) !== undefined);
  await eventually("nobody is left behind",
    async () => (await where(visits)) === undefined && connector.status().pendingChanges === 0);
  assert.ok((await transfer).success);
  await eventually("the transfer is carried out", () => game.transfers.length === 1);
  assert.equal(game.transfers[0]?.playerUuid, stays);
  await eventually("the stream is open again", () => connector.status().connected);
  // Players that were admitted unchecked are checked now.
  await eventually("the player is known not to be muted", () => !connector.punishments.isMuted(joins));
  await owner.punishments.punish({ playerUuid: joins, type: "BAN", reason: "late" });
  await eventually("events come again", () => game.kicked.includes(joins));
});

test("changes during a broken stream are applied later", async () => {
  const connector = await start(hub.url, "a", game);
  const clean = randomUUID();
  assert.equal(await reason(connector, clean), undefined);
  await join(connector, stays, "Stays");
  await hub.kill();
  await hub.start();
  // Before the connector is back: its events belong to a hub that is no more, so it gets RESYNC.
  await owner.punishments.punish({ playerUuid: stays, type: "BAN", reason: "late" });
  await eventually("the ban is carried out", () => game.kicked.includes(stays));
  // A player who was checked before the gap may have been banned in it.
  await hub.kill();
  assert.equal(await reason(connector, clean), "NOT_VERIFIED");
});

test("a stream resumes where it ended", async () => {
  const line = (message: string) => ({ playerUuid: stays, playerName: "Owner", message, serverId: "console" });
  let resyncs = 0;
  const connector = await start(link.url, "a", game, (made) => made.on("RESYNC", () => (resyncs += 1)));
  await owner.chat.send(line("before"));
  await eventually("the stream works", () => game.lines.includes("before"));
  link.cut();
  link.dropConnections();
  const missed = Array.from({ length: 20 }, (_, number) => `line ${number}`);
  for (const message of missed) await owner.chat.send(line(message));
  await eventually("the connector notices", () => !connector.status().streamOpen);
  link.heal();
  await eventually("everything came", () => game.chat.length === 21);
  await owner.chat.send(line("after"));
  await eventually("and what follows", () => game.chat.length === 22);
  assert.deepEqual(game.lines, ["before", ...missed, "after"]);
  assert.equal(resyncs, 0);
});

test("nothing is lost in a partition of 30 seconds", async () => {
  const connector = await start(link.url, "a", game);
  const other = await start(hub.url, "b", otherGame);
  await join(connector, stays, "Stays");
  await join(connector, leaves, "Leaves");

  link.cut();
  const cutAt = performance.now();
  const secondsAfterCut = (seconds: number) =>
    new Promise((resolve) => setTimeout(resolve, cutAt + seconds * 1000 - performance.now()));
  connector.playerLeft(leaves);
  connector.playerJoined(joins, "Joins");
  connector.playerJoined(visits, "Visits");
  connector.playerLeft(visits);
  // The visitor goes to a server that the hub still hears.
  other.playerJoined(visits, "Visits");
  await eventually("the visitor is there", async () => (await where(visits)) === "b");
  connector.setState({ gameState: "PLAYING" });
  assert.equal(await reason(connector, randomUUID()), "NOT_VERIFIED");
  await secondsAfterCut(15);
  // Its command is on its way while nothing gets through.
  const sent = await other.transfer(stays, "b");
  assert.ok(sent.success, sent.result);
  const isGivenUp = async () => (await owner.servers.list({ serverType: "games", online: true })).total === 1;
  await eventually("the hub has given the server up", isGivenUp);
  await secondsAfterCut(30);
  assert.equal(game.transfers.length, 0);

  link.heal();
  await eventually("the join was told", async () => (await where(joins)) === "a");
  await eventually("who stayed is back", async () => (await where(stays)) === "a");
  await eventually("everything was told", () => connector.status().pendingChanges === 0 && connector.status().connected);
  await eventually("the transfer is carried out", () => game.transfers.length === 1);
  assert.equal(game.transfers[0]?.transferId, sent.transferId);
  // Late packets of the partition and the heartbeats after it change nothing any more.
  for (const end = performance.now() + 7_000; performance.now() < end; await new Promise((wait) => setTimeout(wait, 200))) {
    assert.equal(await where(visits), "b");
  }
  assert.equal(await where(leaves), undefined);
  assert.equal(await where(joins), "a");
  const [server] = (await owner.servers.list({ serverType: "games", search: "a" })).items;
  assert.ok(server !== undefined && "live" in server && server.live?.gameState === "PLAYING");
  connector.playerLeft(stays);
  other.playerJoined(stays, "Stays");
  await eventually("the player has moved", async () => (await where(stays)) === "b");
  const path = `/api/manage/transfers/${sent.transferId}`;
  await eventually("the transfer has ended", async () => (await owner.call<{ result: string }>("GET", path)).result === "SUCCESS");
  assert.equal(game.transfers.length, 1);
});
