// `hub demo` in a folder of its own, which is deleted when it stops.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HubClient } from "network-hub-connector";

export async function startHub(binary) {
  const folder = await mkdtemp(join(tmpdir(), "hub-example-"));
  const hub = spawn(binary, ["demo", "--listen", "127.0.0.1:0", "--data", folder], {
    stdio: ["ignore", "pipe", "inherit"],
    detached: true, // Ctrl-C ends the network first.
  });
  process.once("exit", () => hub.kill());
  let printed = "";
  while (!/HUB_CONNECTOR_KEY=\S+\s/.test(printed)) {
    const [text] = await Promise.race([once(hub.stdout, "data"), once(hub, "exit")]);
    if (!Buffer.isBuffer(text)) throw new Error(`the hub did not start:\n${printed}`);
    printed += text;
  }
  hub.stdout.resume();
  const find = (pattern) => printed.match(pattern)[1];
  const url = find(/listening on (\S+)/);
  const key = find(/HUB_KEY=(\S+)/);
  return {
    url,
    key,
    owner: new HubClient({ url, apiKey: key }),
    connector: new HubClient({ url, apiKey: find(/HUB_CONNECTOR_KEY=(\S+)/) }),
    async stop() {
      hub.kill();
      if (hub.exitCode === null) await once(hub, "exit");
      await rm(folder, { recursive: true, force: true });
    },
  };
}
