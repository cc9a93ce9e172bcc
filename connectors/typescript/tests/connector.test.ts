import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { HubClient, HubConnector, type ConnectorOptions } from "network-hub-connector";
import { sign } from "../src/connector/transfer-verifier.js";
import { eventually } from "./support/eventually.js";
import { FakeGame, quiet } from "./support/game.js";
import { Hub } from "./support/hub.js";

let hub: Hub;
let owner: HubClient;
let connectors: HubConnector[] = [];
let game: FakeGame;
let player: string;
let servers = 0;

before(async () => {
  hub = await Hub.start();
  owner = hub.client();
});

after(() => hub.close());

beforeEach(() => {
  game = new FakeGame();
  player = randomUUID();
});

afterEach(async () => {
  await Promise.all(connectors.map((connector) => connector.stop()));
  connectors = [];
});

function server(type: string, options: Partial<ConnectorOptions> = {}, client = hub.client()): HubConnector {
  const server = { serverId: `${type}-${servers++}`, serverType: type, host: "10.0.0.1", port: 25565, maxPlayers: 10 };
  const connector = new HubConnector(client, { server, game, joinTimeoutMs: 60_000, log: quiet, ...options });
  connectors.push(connector);
  return connector;
}

async function start(type: string, options: Partial<ConnectorOptions> = {}): Promise<HubConnector> {
  const connector = server(type, options);
  await connector.connect();
  return connector;
}

async function join(connector: HubConnector, name: string): Promise<void> {
  assert.ok((await connector.checkJoin(player, name)).allowed);
  connector.playerJoined(player, name);
  await eventually("the player is online", async () => (await owner.players.get(player))?.online === true);
}

async function listed(type: string) {
  const [found] = (await owner.servers.list({ serverType: type, online: true })).items;
  assert.ok(found !== undefined && "live" in found);
  return found;
}

test("a server is online with its state and players", async () => {
  const connector = await start("state");
  await join(connector, "Ann");
  connector.setState({ gameState: "PLAYING", playersToStart: 4, worlds: [{ worldId: "arena" }] });
  await eventually("the state is known", async () => (await listed("state")).live?.gameState === "PLAYING");
  assert.equal((await listed("state")).connectivity, "CONNECTED");
  connector.playerChangedWorld(player, "arena");
  await eventually("the world is known", async () => (await owner.players.get(player))?.connection?.worldId === "arena");
  connector.playerLeft(player);
  await eventually("the player has left", async () => (await owner.players.get(player))?.online === false);
  await connector.stop();
  assert.equal((await owner.servers.list({ serverType: "state", online: true })).total, 0);
});

test("a player is found a place and sent there", async () => {
  const lobby = await start("lobby");
  const target = await start("arena", { game: new FakeGame() });
  await join(lobby, "Ben");
  const match = await lobby.client.matchmaking.find({ serverType: "arena", playerUuid: player, playerName: "Ben" });
  assert.ok(match.success && match.matchedServer !== null);
  const outcome = await lobby.transfer(player.toUpperCase(), match.matchedServer.serverId);
  assert.ok(outcome.success, outcome.result);
  assert.equal(outcome.transferId, match.transferId);
  await eventually("the command was carried out", () => game.transfers.length === 1);
  assert.equal(game.transfers[0]?.host, "10.0.0.1");
  lobby.playerLeft(player);
  target.playerJoined(player, "Ben");
  const path = `/api/manage/transfers/${outcome.transferId}`;
  await eventually("the transfer has ended", async () => (await owner.call<{ result: string }>("GET", path)).result === "SUCCESS");
  assert.equal((await owner.players.get(player))?.connection?.serverId, match.matchedServer.serverId);
  // Handed on, it is refused: this verifier has not used it, another time it has.
  assert.equal(target.transferVerifier.refusal(game.transfers[0]!, target.hubTime()), undefined);
  assert.equal(target.transferVerifier.refusal(game.transfers[0]!, target.hubTime()), "the command was used already");
});

test("a transfer that cannot be is reported", async () => {
  const lobby = await start("from");
  const target = await start("to");
  await join(lobby, "Cat");
  game.refusesTransfers = true;
  const outcome = await target.transfer(player, (await listed("to")).serverId);
  const path = `/api/manage/transfers/${outcome.transferId}`;
  await eventually("the failure is reported", async () => {
    const { result, errorMessage } = await owner.call<{ result: string; errorMessage: string }>("GET", path);
    return result === "FAILED" && errorMessage === "the player is in a cutscene";
  });
});

test("signatures are good while the secret is rotated", async () => {
  const from = server("rotate-from");
  const rotated: string[] = [];
  from.on("SIGNING_SECRET_ROTATED", ({ signingSecret }) => rotated.push(signingSecret));
  await from.connect();
  await start("rotate-to");
  const target = (await listed("rotate-to")).serverId;
  await join(from, "Dan");
  await owner.call("POST", "/api/manage/signing-secret/rotate", { overlapMs: 60_000 });
  await from.transfer(player, target);
  await eventually("a command with two signatures is carried out", () => game.transfers.length === 1);
  assert.equal(game.transfers[0]?.signature.split(" ").length, 2);
  await eventually("the new secret is known", () => rotated.length === 1);
  // Signed with the new secret alone: whoever kept the old one would refuse it.
  await owner.call("POST", "/api/manage/signing-secret/rotate", { overlapMs: 0 });
  await eventually("the newest secret is known", () => rotated.length === 2);
  await from.transfer(player, target);
  await eventually("a command with the new signature is carried out", () => game.transfers.length === 2);
  assert.equal(game.transfers[1]?.signature, sign(rotated[1]!, game.transfers[1]!));
});

test("a console command is run and answered", async () => {
  const connector = await start("console");
  const path = `/api/manage/servers/${(await listed("console")).serverId}/command`;
  const run = (command: string) =>
    owner.call<{ success: boolean; output: string; error: string }>("POST", path, { command });
  assert.equal((await run("say hi")).output, "ran say hi");
  assert.equal((await run("fail")).error, "no such command");
  assert.ok(connector.status().connected);
});

test("chat is shown and muted players are held back", async () => {
  const connector = await start("chat");
  await join(connector, "Eve");
  await connector.sendChat(player, "Eve", "hello");
  await eventually("the line came back", () => game.lines.includes("hello"));
  const mute = await owner.punishments.punish({ playerUuid: player, type: "MUTE", reason: "spam" });
  await eventually("the mute is known", () => connector.punishments.isMuted(player));
  await assert.rejects(connector.sendChat(player, "Eve", "again"), { code: "muted" });
  // An edit does not lift it.
  await owner.call("PATCH", `/api/manage/punishments/${mute.id}`, { reason: "spam, again" });
  await eventually("the edit is known", () => connector.punishments.mute(player)?.reason === "spam, again");
  await owner.punishments.remove({ punishmentId: mute.id });
  await eventually("the mute is over", () => !connector.punishments.isMuted(player));
  await connector.sendChat(player, "Eve", "thanks");
});

test("a banned player is removed and kept out", async () => {
  const connector = await start("ban");
  await join(connector, "Fay");
  await owner.punishments.punish({ playerUuid: player, type: "BAN", reason: "cheating" });
  await eventually("the player was kicked", () => game.kicked.includes(player));
  const decision = await connector.checkJoin(player, "Fay", "203.0.113.7");
  assert.ok(!decision.allowed && decision.reason === "BANNED");
  assert.equal(decision.ban.reason, "cheating");
  // A ban of an address concerns another player with it.
  const other = randomUUID();
  await owner.punishments.punishIp({ ipAddress: "203.0.113.8", type: "BAN", reason: "proxy" });
  assert.ok((await connector.checkJoin(other, "Gil", "203.0.113.9")).allowed);
  assert.ok(!(await connector.checkJoin(other, "Gil", "203.0.113.8")).allowed);
});

test("permissions answer from memory and are read anew", async () => {
  await owner.permissions.putGroup("builder", { priority: 1, permissions: [{ node: "build.*" }] });
  await owner.permissions.add(player, { node: "group.builder" });
  const connector = await start("permissions");
  await join(connector, "Hal");
  assert.ok(connector.permissions.has(player, "build.house"));
  assert.deepEqual(connector.permissions.get(player)?.groups, ["builder"]);
  await owner.permissions.add(player, { node: "fly" });
  await eventually("the player may fly", () => connector.permissions.has(player, "fly"));
  await owner.permissions.deleteGroup("builder");
  await eventually("the group is gone", () => !connector.permissions.has(player, "build.house"));
});

test("messages are in the player's language and follow the operator", async () => {
  const messages = { en: { welcome: "Welcome", bye: "Bye" }, de: { welcome: "Willkommen" } };
  const connector = await start("messages", { namespaces: ["game"], messages });
  assert.equal(connector.localization.textIn("fr", "welcome"), "Welcome");
  await join(connector, "Ida");
  await connector.localization.setLanguage(player, "de", "PLAYER");
  await eventually("the catalog is read", () => connector.localization.catalog?.messages["de"] !== undefined);
  assert.equal(connector.localization.text(player, "welcome"), "Willkommen");
  assert.equal(connector.localization.text(player, "bye"), "Bye");
  assert.equal(connector.localization.text(player, "none"), "none");
  await owner.call("PUT", "/api/manage/localization/messages/de/game/welcome", { value: "Servus" });
  await eventually("the edit is known", () => connector.localization.text(player, "welcome") === "Servus");
});

test("config is kept current", async () => {
  const connector = await start("config");
  const seen: unknown[] = [];
  const config = connector.config("arena", "main", { rounds: 3 }).onChange((doc) => seen.push(doc));
  assert.deepEqual(config.get(), { rounds: 3 });
  await eventually("the default is stored", async () => (await owner.config.get("arena", "main")) !== undefined);
  await owner.config.publish("arena", "main", { rounds: 5 });
  await eventually("the change is known", () => seen.length > 0);
  assert.deepEqual(seen, [{ rounds: 5 }]);
});

test("an event of the connector's own choice comes", async () => {
  const connector = server("listener");
  const joined: string[] = [];
  connector.on("PLAYER_JOINED", ({ playerName }) => joined.push(playerName ?? ""));
  await connector.connect();
  await join(await start("elsewhere"), "Jon");
  await eventually("the join was told", () => joined.includes("Jon"));
});

test("opening a world waits until it is up", async () => {
  const node = server("islands", { server: { serverId: "islands-node", serverType: "islands", host: "10.0.0.1", port: 1 } });
  const boots: number[] = [];
  node.on("WORLD_OPEN", ({ worldId, fence }) => {
    boots.push(worldId);
    void node.client.worlds.ready(worldId, "islands-node", fence);
  });
  await node.connect();
  const opened = await node.openWorld({ gameId: "islands", ownerScope: "player", ownerId: player, persistence: "EPHEMERAL" });
  assert.deepEqual([opened.status, boots.length], ["READY", 1]);
  assert.equal(opened.matchedServer?.serverType, "islands");
});

test("a wrong key is told and lets nobody in", async () => {
  const wrong = server("wrong", {}, new HubClient({ url: hub.url, apiKey: "hub_wrong" }));
  wrong.start();
  await eventually("the error is told", () => wrong.status().lastError !== undefined);
  assert.ok(!wrong.status().connected);
  const decision = await wrong.checkJoin(player, "Kim");
  assert.ok(!decision.allowed && decision.reason === "NOT_VERIFIED");
});
