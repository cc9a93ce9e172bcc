// Repeats, against a server that fails as hubs and gateways do.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { afterEach, test } from "node:test";
import { HubClient } from "network-hub-connector";

interface Reply {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

let server: Server;
let keys: (string | undefined)[];

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** A client of a server that gives these replies, one after the other. */
async function clientOf(...replies: Reply[]): Promise<HubClient> {
  keys = [];
  server = createServer((request, response) => {
    const reply = replies[Math.min(keys.length, replies.length - 1)]!;
    keys.push(request.headers["idempotency-key"] as string | undefined);
    response.writeHead(reply.status, reply.headers).end(reply.body);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const retry = { attempts: 3, firstDelayMs: 10, maxDelayMs: 1_500 };
  return new HubClient({ url: `http://127.0.0.1:${(server.address() as { port: number }).port}/`, apiKey: "key", retry });
}

const away: Reply = { status: 503, body: '{"error":"Stopping.","code":"stopping","requestId":"r-1"}' };
const player = "069a79f4-44e9-4726-a5be-fca90e38aaf5";

test("read-only calls are repeated until they are answered", async () => {
  const client = await clientOf(away, away, { status: 200, body: "[]" });
  assert.deepEqual(await client.permissions.groups(), []);
  assert.equal(keys.length, 3);
});

test("writing calls are repeated under one key", async () => {
  const client = await clientOf(away, { status: 200, body: '{"balance":1}' });
  await client.economy.spend(player, "coins", 1);
  assert.equal(keys.length, 2);
  assert.match(keys[0] ?? "", /^[0-9a-f-]{36}$/);
  assert.equal(keys[0], keys[1]);
});

test("a heartbeat, and data that is written over a version, are not repeated", async () => {
  const client = await clientOf(away);
  await assert.rejects(client.servers.heartbeat("a"), { code: "stopping", status: 503, requestId: "r-1" });
  await assert.rejects(client.players.putData(player, "a", "b", {}, 1), { code: "stopping" });
  assert.equal(keys.length, 2);
  await assert.rejects(client.players.putData(player, "a", "b", {}), { code: "stopping" });
  assert.equal(keys.length, 5);
});

test("a rate limit says when to come again, and one that is too far off is told", async () => {
  const limited = (seconds: string) => ({ ...away, status: 429, headers: { "Retry-After": seconds } });
  const client = await clientOf(limited("1"), limited("9"));
  const start = performance.now();
  await assert.rejects(client.servers.heartbeat("a"), { status: 429, retryAfterMs: 9_000 });
  assert.equal(keys.length, 2);
  assert.ok(performance.now() - start >= 990);
});

test("an answer that is not the hub's has a code, too", async () => {
  const client = await clientOf({ status: 404, body: "<html>" });
  await assert.rejects(client.players.get(player), { code: "invalid_answer", status: 404 });
  server.close();
  const gateway = await clientOf({ status: 502, body: "<html>" });
  await assert.rejects(gateway.permissions.groups(), { code: "http_502" });
  assert.equal(keys.length, 3);
  server.close();
  await assert.rejects((await clientOf({ status: 200, body: "<html>" })).permissions.groups(), { code: "invalid_answer" });
});
