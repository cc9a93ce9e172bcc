import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { HubClient, type HubError } from "network-hub-connector";
import { freePort, Hub } from "./support/hub.js";

let hub: Hub;
let client: HubClient;

before(async () => {
  hub = await Hub.start();
  client = hub.client();
});

after(() => hub.close());

async function failure(call: Promise<unknown>): Promise<HubError> {
  return call.then(
    () => assert.fail("the call did not fail"),
    (error: HubError) => error,
  );
}

test("a server registers and has players", async () => {
  const player = randomUUID();
  const world = { worldId: "arena", currentPlayers: 1, maxPlayers: 8, gameState: "WAITING", playersToStart: 2, worldType: "arena" };
  const server = { serverId: "client-1", serverType: "client", host: "10.0.0.1", port: 25565, maxPlayers: 5 };
  const registered = await client.servers.register({ ...server, gameState: "WAITING", playersToStart: 2, worlds: [world] });
  assert.ok(registered.heartbeatIntervalMs > 0 && registered.signingSecret !== "");
  await client.servers.join("client-1", player, "Ann");
  await client.servers.changeWorld("client-1", player, "arena");
  assert.equal((await client.servers.onlinePlayers("client"))[0]?.playerName, "Ann");
  await client.servers.heartbeat("client-1", {}, [{ uuid: player, name: "Ann" }]);
  const [listed] = (await client.servers.list({ serverType: "client", online: true })).items;
  assert.ok(listed !== undefined && "live" in listed && listed.live?.worlds[0]?.worldId === "arena");
  assert.equal((await client.players.get(player))?.connection?.worldId, "arena");
  assert.equal((await client.matchmaking.regions("client")).length, 1);
  await client.servers.shipLogs("client-1", [{ at: 1, stream: "stdout", text: "hello" }]);
  await client.servers.leave("client-1", player);
  await client.servers.unregister("client-1");
  assert.equal((await failure(client.servers.heartbeat("client-1"))).code, "unknown_server");
});

test("an error has its code and the request's id", async () => {
  const error = await failure(client.config.publish("", "x", {}));
  assert.equal(error.status, 400);
  assert.match(error.requestId ?? "", /./);
  assert.ok(!error.isTransient);
  const unauthorized = new HubClient({ url: hub.url, apiKey: "hub_wrong" });
  assert.equal((await unauthorized.version()).component, "hub");
  assert.equal((await failure(unauthorized.permissions.groups())).code, "unauthenticated");
  assert.throws(() => new HubClient({ url: "hub.example", apiKey: "key" }), /must begin with http/);
});

test("an unreachable hub is transient and tried again", async () => {
  const retry = { attempts: 3, firstDelayMs: 40, maxDelayMs: 1_000 };
  const away = new HubClient({ url: `http://127.0.0.1:${await freePort()}`, apiKey: "key", retry });
  const start = performance.now();
  const error = await failure(away.permissions.groups());
  assert.equal(error.code, "unreachable");
  assert.ok(error.isTransient && error.wasNeverSent);
  // Two waits, of half of 40 ms and of 80 ms at least.
  assert.ok(performance.now() - start >= 60);
});

test("data is written over what was read", async () => {
  const { players } = client;
  const player = randomUUID();
  assert.equal(await players.getData(player, "bedwars", "kit"), undefined);
  const first = await players.putData(player, "bedwars", "kit", { a: 1 }, 0);
  assert.equal((await players.putData(player, "bedwars", "kit", { a: 2 }, first.version)).version, 2);
  assert.equal((await failure(players.putData(player, "bedwars", "kit", {}, first.version))).code, "version_conflict");
  assert.deepEqual(await players.getData(player, "bedwars", "kit"), { value: { a: 2 }, version: 2 });
  assert.equal(await players.deleteData(player, "bedwars", "kit"), true);
  assert.equal(await players.deleteData(player, "bedwars", "kit"), false);
});

test("a load makes a player known and includes what a join needs", async () => {
  const player = randomUUID();
  assert.equal(await client.players.get(player), undefined);
  await client.permissions.add(player, { node: "fly" });
  await client.players.putData(player, "global", "kit", {});
  await client.localization.setLanguage(player, "de", "PLAYER", "Cat");
  const include = ["permissions", "punishments", "language", "balances", "statistics", "data:kit", "data:none"] as const;
  const loaded = await client.players.load(player, { username: "Cat", gameType: "MINECRAFT", ip: "203.0.113.4", include });
  assert.equal(loaded.username, "Cat");
  assert.equal(loaded.permissions?.permissions["fly"], true);
  assert.equal(loaded.language?.locale, "de");
  assert.deepEqual([loaded.punishments, loaded.balances], [[], []]);
  assert.deepEqual(Object.keys(loaded.data ?? {}).sort(), ["kit", "none"]);
  await client.players.increment(player, "kills", 3);
  assert.equal((await client.players.statistics(player)).statistics.length, 4);
  const top = await client.economy.statisticLeaderboard("kills", { period: "DAILY", limit: 5 });
  assert.equal(top.entries[0]?.value, 3);
  assert.equal((await client.players.list({ search: "ca" })).total, 1);
});

test("money is cut or refused whole", async () => {
  const player = randomUUID();
  const coins = { ownerType: "player", ownerKey: player, currency: "coins" };
  await client.economy.modify({ ...coins, amount: 30.2 + 0.1 + 0.2, reason: "start" });
  assert.deepEqual(await client.economy.balances("player", player), [{ currencyName: "coins", balance: 30.5 }]);
  assert.equal((await failure(client.economy.spend(player, "coins", 31, "sword"))).code, "insufficient_funds");
  const spent = await client.economy.spend(player, "coins", 30, "sword");
  assert.deepEqual([spent.balance, spent.applied], [0.5, -30]);
  assert.equal((await client.economy.modify({ ...coins, amount: -31 })).applied, -0.5);
  for (const amount of [0.00001, 1.23456, 900e9 + 1, NaN]) {
    assert.equal((await failure(client.economy.modify({ ...coins, amount }))).code, "invalid_amount");
  }
});

test("a transaction is done whole or not at all", async () => {
  const [rich, poor] = [randomUUID(), randomUUID()];
  await client.economy.modify({ ownerType: "player", ownerKey: rich, currency: "gems", amount: 10 });
  const paid = await client.economy.pay(rich, poor, "gems", 4, "gift");
  assert.deepEqual(paid.balances.map(({ balance }) => balance), [6, 4]);
  const error = await failure(client.economy.pay(rich, poor, "gems", 7, "gift"));
  assert.equal(error.code, "insufficient_funds");
  assert.equal(error.details.operation, 0);
  assert.equal((await client.economy.currencyLeaderboard("gems")).entries[0]?.ownerKey, rich);
});

test("punishments come and go", async () => {
  const { punishments } = client;
  const playerUuid = randomUUID();
  const mute = await punishments.punish({ playerUuid, playerName: "Dan", type: "MUTE", reason: "spam", durationMs: 3_600_000 });
  assert.ok(mute.active);
  await punishments.recordIp({ playerUuid, playerName: "Dan", ipAddress: "203.0.113.9" });
  assert.equal((await client.players.ips(playerUuid))[0]?.ipAddress, "203.0.113.9");
  assert.ok(await punishments.punishIp({ ipAddress: "203.0.113.9", type: "BAN" }));
  assert.equal(await punishments.punishIp({ ipAddress: "", type: "BAN" }), undefined);
  assert.equal((await punishments.query({ playerUuid, ip: "203.0.113.9" })).length, 2);
  assert.equal((await punishments.unbanIp({ ipAddress: "203.0.113.9", actorName: "Admin" })).length, 1);
  assert.equal((await punishments.remove({ punishmentId: mute.id, reason: "sorry" })).active, false);
  assert.deepEqual(await punishments.ofPlayer(playerUuid), []);
  assert.equal((await punishments.historyOfPlayer(playerUuid)).length, 1);
  await punishments.punishName({ playerName: "Nobody", type: "BAN", reason: "name" });
  assert.equal((await punishments.ofName("nobody")).length, 1);
  assert.equal((await punishments.unbanName({ playerName: "Nobody" })).length, 1);
  assert.equal((await punishments.historyOfName("NOBODY", { limit: 10 })).length, 1);
});

test("permissions are evaluated", async () => {
  const { permissions } = client;
  const player = randomUUID();
  await permissions.putGroup("vip", { displayName: "VIP", priority: 5, permissions: [{ node: "Kit.*" }] });
  await permissions.add(player, { node: "group.vip" });
  const read = await permissions.effective(player);
  assert.deepEqual(read.permissions?.groups, ["vip"]);
  assert.equal(read.permissions?.permissions["kit.*"], true);
  assert.equal((await permissions.effective(player, { etag: read.etag })).permissions, undefined);
  await permissions.remove(player, { node: "group.vip" });
  assert.notEqual((await permissions.effective(player, { etag: read.etag })).permissions, undefined);
  assert.deepEqual(await permissions.ofPlayer(player), []);
  assert.equal((await permissions.group("vip"))?.priority, 5);
  assert.equal(await permissions.deleteGroup("vip"), true);
  assert.equal(await permissions.deleteGroup("vip"), false);
  assert.equal(await permissions.group("vip"), undefined);
});

test("messages, config and collections", async () => {
  assert.equal(await client.localization.registerDefaults("shop", "en", { hello: "Hello" }), 1);
  assert.equal((await client.localization.catalog(["shop"])).messages["en"]?.["hello"], "Hello");
  assert.equal((await client.localization.locales())[0]?.isDefault, true);

  assert.deepEqual((await client.config.register("bedwars", "main", { rounds: 3 })).doc, { rounds: 3 });
  await client.config.publish("bedwars", "main", {});
  assert.deepEqual((await client.config.get("bedwars", "main"))?.doc, {});
  assert.equal(await client.config.get("bedwars", "other"), undefined);

  const { collections } = client;
  await collections.register([{ name: "guilds", indexes: [{ field: "level", type: "number" }] }]);
  await collections.put("guilds", "red", { level: 7 });
  await collections.put("guilds", "blue", { level: 9 });
  assert.equal((await collections.top<{ level: number }>("guilds", "level", { limit: 1 })).items[0]?.doc.level, 9);
  assert.equal((await collections.findRange("guilds", "level", { max: 8 })).items[0]?.id, "red");
  assert.equal((await collections.findBy("guilds", "level", 7)).items.length, 1);
  const page = await collections.page("guilds", "level", { limit: 1, order: "asc" });
  assert.equal((await collections.page("guilds", "level", { cursor: page.nextCursor ?? "", order: "asc" })).items[0]?.id, "blue");
  assert.equal((await collections.getAll("guilds", ["red", "blue", "none"])).items.length, 2);
  assert.equal(await collections.delete("guilds", "red"), true);
  assert.equal(await collections.get("guilds", "red"), undefined);
});

test("a match tells why there is none, and a party is matched whole", async () => {
  const [playerUuid, friend, third] = [randomUUID(), randomUUID(), randomUUID()];
  const none = await client.matchmaking.find({ serverType: "nowhere", playerUuid });
  assert.deepEqual([none.success, none.result], [false, "NO_SERVERS_AVAILABLE"]);
  await client.servers.register({ serverId: "party-1", serverType: "party", host: "10.0.0.1", port: 1, maxPlayers: 2 });
  const party = { serverType: "party", playerUuid, party: [friend, third] };
  assert.equal((await client.matchmaking.find(party)).result, "ALL_SERVERS_FULL");
  assert.ok((await client.matchmaking.find({ ...party, party: [friend] })).success);
});

test("a world is opened and run by its node", async () => {
  const { worlds } = client;
  const request = { gameId: "islands", ownerScope: "player", ownerId: randomUUID(), persistence: "EPHEMERAL" } as const;
  assert.equal((await worlds.open(request)).success, false);
  await client.servers.register({ serverId: "node-1", serverType: "islands", host: "10.0.0.1", port: 1 });
  assert.equal(await worlds.releaseAll("node-1"), 0);
  const opened = await worlds.open(request);
  assert.equal(opened.status, "LOADING");
  const id = Number(opened.worldInstanceId);
  assert.equal((await failure(worlds.ready(id, "node-1", 99))).code, "stale_fence");
  assert.equal((await worlds.ready(id, "node-1", 1)).state, "READY");
  assert.equal((await worlds.heartbeat(id, { nodeServerId: "node-1", fence: 1, playerCount: 2 })).playerCount, 2);
  assert.equal((await worlds.release(opened.worldInstanceId!)).state, "DRAINING");
  assert.equal((await worlds.unloaded(id, { nodeServerId: "node-1", fence: 1 })).state, "UNLOADED");
});
