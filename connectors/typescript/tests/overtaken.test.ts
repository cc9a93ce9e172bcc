// Answers that come in another order than they were asked for: the caches keep the one that was asked for last.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import { CachedConfig } from "../src/connector/cached-config.js";
import { LocalizationCache } from "../src/connector/localization-cache.js";
import { PermissionCache } from "../src/connector/permission-cache.js";
import { PunishmentCache } from "../src/connector/punishment-cache.js";
import { sign } from "../src/connector/transfer-verifier.js";
import { HubClient, HubConnector, type Punishment } from "../src/index.js";
import { eventually } from "./support/eventually.js";
import { FakeGame, quiet } from "./support/game.js";

const ann = "00000000-0000-4000-8000-00000000000a";
const client = new HubClient({ url: "http://127.0.0.1:1", apiKey: "key" });

/** Calls that are answered by hand. */
function later(api: object, ...methods: string[]): ((answer: unknown) => void)[] {
  const answers: ((answer: unknown) => void)[] = [];
  const call = () => new Promise((resolve) => answers.push(resolve));
  for (const method of methods) Object.defineProperty(api, method, { value: call, configurable: true });
  return answers;
}

test("a config document", async () => {
  const answers = later(client.config, "register");
  const seen: string[] = [];
  const config = new CachedConfig(client, quiet, "arena", "main", "default").onChange((doc) => seen.push(doc));
  const reads = [config.refresh(), config.refresh()];
  for (const [read, doc] of [[1, "newer"], [0, "older"]] as const) {
    answers[read]?.({ group: "arena", namespace: "main", doc });
    await reads[read];
  }
  assert.equal(config.get(), "newer");
  assert.deepEqual(seen, ["newer"]);
});

test("a language", async () => {
  const answers = later(client.localization, "language", "setLanguage");
  const cache = new LocalizationCache(client, [], {}, "en");
  const read = cache.refreshLanguage(ann);
  const change = cache.setLanguage(ann, "de", "PLAYER");
  answers[1]?.({ locale: "de", source: "PLAYER" });
  await change;
  answers[0]?.({ locale: null, source: null });
  await read;
  assert.equal(cache.locale(ann), "de");
});

test("permissions", () => {
  const cache = new PermissionCache(client, undefined);
  const put = (fly: boolean, askedAt: number) =>
    cache.put(ann, { playerUuid: ann, groups: [], permissions: { fly }, revision: 1, validUntil: null }, undefined, askedAt);
  put(true, 2);
  put(false, 1);
  assert.equal(cache.has(ann, "fly"), true);
});

test("punishments", () => {
  const cache = new PunishmentCache();
  const ban: Punishment = {
    id: 1, type: "BAN", active: true, playerUuid: ann, playerName: null, ipAddress: null, ipBased: false, reason: null, issuedAt: 0,
    durationMs: null, expiresAt: null, issuerUuid: null, issuerName: null, appealCode: null,
  };
  cache.checked(ann, "Ann", "10.0.0.1", [ban], 2);
  cache.checked(ann, "Ann", "10.0.0.1", [], 1);
  assert.equal(cache.ban(ann)?.id, 1);
  // Of another address it may say more.
  cache.checked(ann, "Ann", "10.0.0.2", [{ ...ban, id: 2, playerUuid: null, ipAddress: "10.0.0.2", ipBased: true }], 1);
  assert.equal(cache.ban(ann)?.id, 2);
});

test("a registration", async () => {
  let [isAsked, isTold] = [false, false];
  const hub = createServer((request, response) => {
    if (request.url?.startsWith("/api/plugin/events") === true) {
      const event = { type: "SIGNING_SECRET_ROTATED", at: 0, signingSecret: "new", validUntil: 1 };
      const told = () => response.writeHead(200).write(`event: SIGNING_SECRET_ROTATED\ndata: ${JSON.stringify(event)}\n\n`);
      void eventually("it registers", () => isAsked).then(told);
    } else if (request.url?.startsWith("/api/plugin/servers/register") === true) {
      const body = JSON.stringify({ serverId: "a", heartbeatIntervalMs: 60_000, offlineAfterMs: 90_000, signingSecret: "old" });
      isAsked = true;
      const answer = () => response.writeHead(200, { "content-type": "application/json" }).end(body);
      void eventually("the change is told", () => isTold).then(answer);
    } else if (request.url?.startsWith("/api/plugin/servers/") === true) {
      response.writeHead(204).end();
    } else {
      response.writeHead(503).end();
    }
  }).listen(0, "127.0.0.1");
  await once(hub, "listening");
  const url = `http://127.0.0.1:${(hub.address() as { port: number }).port}`;
  const server = { serverId: "a", serverType: "games", host: "10.0.0.1", port: 25565 };
  const connector = new HubConnector(new HubClient({ url, apiKey: "key" }), { server, game: new FakeGame(), log: quiet });
  try {
    connector.on("SIGNING_SECRET_ROTATED", () => (isTold = true));
    connector.start();
    await eventually("it is registered", () => connector.status().registered);
    const command = {
      transferId: "t-1", playerUuid: ann, targetServerId: "a", targetWorldId: null, host: "10.0.0.1", port: 25565, issuedAt: 0,
      expiresAt: 9_000_000_000_000,
    };
    const later = Date.now() + 3_600_000;
    assert.equal(connector.transferVerifier.refusal({ ...command, signature: sign("new", command) }, later), undefined);
  } finally {
    hub.closeAllConnections();
    hub.close();
    await connector.stop();
  }
});
