// A stream against a server that does what no hub does, and the reading of its bytes.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { afterEach, test } from "node:test";
import { HubClient, type EventStream, type HubError } from "network-hub-connector";
import { SseParser } from "../src/sse.js";
import { eventually } from "./support/eventually.js";
import { quiet } from "./support/game.js";

let server: Server;
let stream: EventStream;
let events: string[];
let ends: HubError[];

afterEach(() => {
  stream?.close();
  server?.closeAllConnections();
  server?.close();
});

async function open(answer: RequestListener, silenceMs = 40_000): Promise<void> {
  [events, ends] = [[], []];
  server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = new HubClient({ url: `http://127.0.0.1:${(server.address() as { port: number }).port}`, apiKey: "key" });
  stream = client.events({ serverId: "a", types: ["CHAT"], log: quiet, silenceMs }, {
    onEvent({ type }) {
      events.push(type);
      if (type === "RESYNC") throw new Error("a listener that fails");
    },
    onDisconnected: (why) => ends.push(why),
  });
  stream.open();
}

test("a silent stream is opened again where it ended", async () => {
  const ids: (string | undefined)[] = [];
  await open(({ headers }, response) => {
    ids.push(headers["last-event-id"] as string | undefined);
    response.writeHead(200).write(`retry: 10\nid: e-${ids.length}\nevent: CHAT\ndata: {}\n\n`);
  }, 1_500);
  await eventually("it was opened three times", () => ids.length >= 3);
  assert.deepEqual(ids.slice(0, 3), [undefined, "e-1", "e-2"]);
  assert.equal(events[0], "CHAT");
  assert.match(ends[0]?.message ?? "", /nothing came for 1500 ms/);
});

test("a listener that fails does not end the stream", async () => {
  await open((_, response) => {
    response.writeHead(200).write('event: RESYNC\ndata: {}\n\nevent: CHAT\ndata: no\n\nevent: PING\ndata: {"at":7}\n\n');
  });
  await eventually("all that can be read came", () => events.length === 2);
  assert.deepEqual(events, ["RESYNC", "PING"]);
  assert.deepEqual(ends, []);
});

test("a refusal is told and tried again", async () => {
  await open((_, response) => {
    response.writeHead(403).end('{"error":"No.","code":"forbidden_scope","requestId":"r-1"}');
  });
  await eventually("it was tried twice", () => ends.length >= 2);
  assert.deepEqual([ends[0]?.code, ends[0]?.requestId], ["forbidden_scope", "r-1"]);
});

test("frames are read however their bytes are cut", () => {
  const text = ': hello\r\nretry: 70\nid: 1\nevent: CHAT\ndata: {"a":\rdata:"ä"}\r\n\r\ndata: second\n\nid: 3\n\n';
  const expected = [
    { event: "CHAT", data: '{"a":\n"ä"}', id: "1" },
    { event: undefined, data: "second", id: "1" },
    { event: undefined, data: undefined, id: "3" },
  ];
  const bytes = Buffer.from(text);
  for (const size of [1, 2, 3, 7, bytes.length]) {
    const parser = new SseParser();
    const frames = [];
    for (let at = 0; at < bytes.length; at += size) frames.push(...parser.feed(bytes.subarray(at, at + size)));
    assert.deepEqual(frames, expected, `cut into ${size} bytes`);
    assert.equal(parser.retryMs, 70);
  }
});
