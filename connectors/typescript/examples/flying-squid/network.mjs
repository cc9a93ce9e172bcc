// The network: two servers and a proxy, and the module that matches its players.
import { createServer } from "node:net";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { startProxy } from "./proxy.mjs";
import { startServer } from "./server.mjs";
import { HOST } from "./settings.mjs";

const MODULE = new URL("../../../../plugins/fill-waiting/fill-waiting.wasm", import.meta.url);

export async function startNetwork(hub, proxyPort) {
  await addModule(hub, "fill-waiting", "matchmaking", await readFile(MODULE), { joinStarting: false, joinPlaying: false });
  const lobby = await startServer(hub.connector, { serverId: "lobby", serverType: "lobby-squid", port: await freePort() });
  const arena = await startServer(hub.connector, { serverId: "arena", serverType: "arena", port: await freePort() });
  const port = proxyPort ?? (await freePort());
  const proxy = await startProxy(hub.connector, { serverId: "proxy", port });
  return {
    port,
    async stop() {
      await proxy.stop();
      await Promise.all([lobby.stop(), arena.stop()]);
    },
  };
}

/** Uploads a module and puts it at the end of a chain, as `hub module push FILE --activate POINT` does. */
async function addModule({ url, key, owner }, name, point, wasm, config) {
  const headers = { "X-Service-Api-Key": key, "Content-Type": "application/wasm" };
  const answer = await fetch(`${url}/api/manage/modules?name=${name}`, { method: "POST", headers, body: wasm });
  if (!answer.ok) throw new Error(`the module was refused: ${await answer.text()}`);
  const { version } = await answer.json();
  const path = `/api/manage/extension-points/${point}`;
  const { modules } = await owner.call("GET", path);
  const link = { name, version, config, mode: "ACTIVE", onFailure: "SKIP" };
  await owner.call("PUT", path, { modules: [...modules, link] });
}

/** A port below those that systems give to connections, any of which could take it before a program listens. */
export async function freePort() {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    const server = createServer().listen(port, HOST);
    const isFree = await once(server, "listening").then(() => true, () => false);
    server.close();
    if (isFree) return port;
  }
}
