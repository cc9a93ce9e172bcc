// The connector's caches, without a hub.
import assert from "node:assert/strict";
import { test } from "node:test";
import { change, PlayerOutbox } from "../src/connector/outbox.js";
import { PermissionCache } from "../src/connector/permission-cache.js";
import { playerId } from "../src/connector/player-id.js";
import { PunishmentCache } from "../src/connector/punishment-cache.js";
import { HubClock } from "../src/connector/time.js";
import { sign } from "../src/connector/transfer-verifier.js";
import { HubClient, TransferVerifier, type Punishment } from "../src/index.js";

const [ann, ben] = ["00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000b"] as const;
const client = new HubClient({ url: "http://127.0.0.1:1", apiKey: "key" });

function given(permissions: Record<string, boolean | null>): PermissionCache {
  const cache = new PermissionCache(client, undefined);
  cache.put(ann, { playerUuid: ann, groups: [], permissions, revision: 5, validUntil: 1_000 }, undefined, performance.now() + 1);
  return cache;
}

test("a player's UUID is read in any form", () => {
  assert.equal(playerId("069A79F444E94726A5BEFCA90E38AAF5"), "069a79f4-44e9-4726-a5be-fca90e38aaf5");
  assert.throws(() => playerId("Notch"), /no UUID/);
});

test("the node itself comes before the longest wildcard", () => {
  const cache = given({ "kit.*": true, "Kit.vip.*": false, "kit.vip.gold": true, fly: false, undecided: null });
  assert.equal(cache.has(ann, "kit.start"), true);
  assert.equal(cache.has(ann.toUpperCase(), "KIT.vip.Gold"), true);
  assert.equal(cache.has(ann, "kit.vip.silver"), false);
  assert.equal(cache.check(ann, "fly"), false);
  assert.equal(cache.check(ann, "kit"), undefined);
  assert.equal(cache.check(ann, "undecided"), undefined);
  assert.equal(cache.check(ben, "fly"), undefined);
  assert.equal(given({ "*": true }).has(ann, "anything"), true);
});

test("permissions hold until their end and for earlier changes", () => {
  const cache = given({});
  assert.equal(cache.hasExpired(ben, 0), true);
  assert.equal(cache.hasExpired(ann, 999), false);
  assert.equal(cache.hasExpired(ann, 1_000), true);
  assert.equal(cache.isBefore(ann, 5), false);
  assert.equal(cache.isBefore(ann, 6), true);
  assert.equal(cache.isBefore(ben, 1), true);
});

function ban(id: number, more: Partial<Punishment>): Punishment {
  return {
    id, type: "BAN", active: true, playerUuid: null, playerName: null, ipAddress: null, ipBased: false, reason: null, issuedAt: 0,
    durationMs: null, expiresAt: null, issuerUuid: null, issuerName: null, appealCode: null, ...more,
  };
}

test("a ban is found by player, name and address", () => {
  const cache = new PunishmentCache();
  cache.checked(ann, "Ann", "203.0.113.1", [], performance.now());
  cache.update(ban(1, { playerUuid: ben, playerName: "Ann", ipAddress: "203.0.113.1" }), true);
  cache.update(ban(2, { playerUuid: ann, expiresAt: Date.now() - 1 }), true);
  assert.equal(cache.ban(ann), undefined);
  for (const facts of [{ playerUuid: ann }, { playerName: "ANN" }, { ipAddress: "203.0.113.1" },
    { playerUuid: ben, ipBased: true, ipAddress: "203.0.113.1" }]) {
    cache.update(ban(3, facts), true);
    assert.equal(cache.ban(ann)?.id, 3, JSON.stringify(facts));
    cache.update(ban(3, facts), false);
    assert.equal(cache.ban(ann), undefined);
  }
});

test("a punishment ends by the hub's clock", () => {
  const clock = new HubClock();
  const cache = new PunishmentCache(clock);
  cache.checked(ann, "Ann", undefined, [ban(1, { playerUuid: ann, expiresAt: Date.now() - 60_000 })], performance.now());
  assert.equal(cache.ban(ann), undefined);
  clock.ping(Date.now() - 120_000);
  assert.equal(cache.ban(ann)?.id, 1, "this machine's clock is two minutes ahead");
  for (let ping = 0; ping < 4; ping += 1) clock.ping(Date.now());
  assert.equal(cache.ban(ann), undefined);
});

test("older answer does not undo an event", () => {
  const cache = new PunishmentCache();
  const askedAt = performance.now();
  cache.update(ban(1, { playerUuid: ann }), true);
  cache.update(ban(2, { playerUuid: ann }), false);
  cache.checked(ann, "Ann", undefined, [ban(2, { playerUuid: ann })], askedAt);
  assert.deepEqual(cache.all().map(({ id }) => id), [1]);
});

test("unknown player counts as muted", () => {
  const cache = new PunishmentCache();
  assert.equal(cache.isMuted(ann), true);
  cache.checked(ann, "Ann", undefined, [], performance.now());
  assert.equal(cache.isMuted(ann), false);
  assert.equal(cache.isCurrent(ann), true);
  cache.gap();
  assert.equal(cache.isCurrent(ann), false);
});

const joined = (player: string) => change(player, { kind: "JOIN", name: "Somebody" } as const);
const left = (player: string) => change(player, { kind: "LEAVE" } as const);
const moved = (player: string, world: string) => change(player, { kind: "WORLD", world, previousWorld: undefined } as const);

test("an outbox drops visits that are over, and nothing else", () => {
  const outbox = new PlayerOutbox(4);
  const [first, stays] = [left(ben), joined(ben)];
  assert.equal(outbox.add(first) + outbox.add(joined(ann)) + outbox.add(stays) + outbox.add(moved(ben, "nether")), 0);
  assert.equal(outbox.add(left(ann)), 3);
  outbox.remove(first);
  assert.equal(outbox.first, stays);
  assert.equal(outbox.size, 1);
});

test("of changes of world in a row the last one counts", () => {
  const outbox = new PlayerOutbox(10);
  const join = joined(ann);
  outbox.add(join);
  outbox.add(moved(ann, "nether"));
  outbox.add(moved(ann, "end"));
  assert.equal(outbox.size, 2);
  const leave = left(ann);
  outbox.add(leave);
  assert.equal(outbox.endOf(join), leave);
  outbox.add(joined(ben));
  outbox.removeVisit(join, leave);
  assert.equal(outbox.size, 1);
  assert.equal(outbox.concerns(ann), false);
});

test("a transfer command is good once, in time, and with the right signature", () => {
  const command = {
    transferId: "t-1", playerUuid: ann, targetServerId: "arena-1", targetWorldId: null, host: "10.0.0.1", port: 25565, issuedAt: 0,
    expiresAt: 30_000,
  };
  const signed = (secret: string, more = {}) => ({ ...command, ...more, signature: sign(secret, { ...command, ...more }) });
  const verifier = new TransferVerifier();
  assert.equal(verifier.refusal(signed("old"), 0), "the signature is wrong");
  verifier.setSecret("old", 0);
  assert.equal(verifier.refusal({ ...signed("old"), port: 1 }, 0), "the signature is wrong");
  assert.equal(verifier.refusal({ ...signed("old"), signature: "" }, 0), "the signature is wrong");
  assert.equal(verifier.refusal(signed("old"), 30_000), "the command has expired");
  assert.equal(verifier.refusal(signed("old"), 1), undefined);
  assert.equal(verifier.refusal(signed("old"), 2), "the command was used already");
  verifier.rotate("new", 10_000);
  assert.equal(verifier.refusal(signed("old", { transferId: "t-2" }), 9_999), undefined);
  assert.equal(verifier.refusal(signed("old", { transferId: "t-3" }), 10_000), "the signature is wrong");
  assert.equal(verifier.refusal(signed("new", { transferId: "t-4" }), 10_000), undefined);
});

test("a change of the secret that is told before a registration's answer is newer", () => {
  const command = {
    transferId: "", playerUuid: ann, targetServerId: "arena-1", targetWorldId: null, host: "10.0.0.1", port: 25565, issuedAt: 0,
    expiresAt: 900_000,
  };
  let transfers = 0;
  const isGood = (secret: string, hubNow: number) => {
    const sent = { ...command, transferId: `t-${transfers++}` };
    return verifier.refusal({ ...sent, signature: sign(secret, sent) }, hubNow) === undefined;
  };
  let verifier = new TransferVerifier();
  verifier.registering();
  verifier.rotate("newer", 10_000);
  verifier.rotate("newest", 20_000);
  verifier.setSecret("old", 0);
  assert.deepEqual(["old", "newer", "newest"].map((secret) => isGood(secret, 9_999)), [true, true, true]);
  assert.deepEqual(["old", "newer", "newest"].map((secret) => isGood(secret, 20_000)), [false, false, true]);
  // The next answer is newer than what was told before it was asked for.
  verifier.registering();
  verifier.setSecret("later", 30_000);
  assert.deepEqual(["newest", "later"].map((secret) => isGood(secret, 60_000)), [false, true]);
  verifier = new TransferVerifier();
  verifier.rotate("told", 10_000);
  verifier.setSecret("answered", 20_000);
  assert.deepEqual(["told", "answered"].map((secret) => isGood(secret, 50_000)), [false, true]);
});
