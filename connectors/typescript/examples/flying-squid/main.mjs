// Starts `hub demo` and the network, plays an end-to-end scenario, and then leaves everything running for you to join.
import { playScenario } from "./end-to-end.mjs";
import { startHub } from "./hub.mjs";
import { startNetwork } from "./network.mjs";

const hub = await startHub(process.env.HUB_BINARY ?? "hub");
const network = await startNetwork(hub, Number(process.env.PORT ?? 25565));
const { ann, catAgain } = await playScenario(hub, network.port, console.log);
console.log(`
Join with Minecraft 1.16.5 at 127.0.0.1:${network.port}: type /play, /buy, dig, and chat. The hub is at ${hub.url}/api,
the owner's key is ${hub.key}. Ctrl-C ends it.`);

process.once("SIGINT", async () => {
  ann.leave();
  catAgain.leave();
  await network.stop();
  await hub.stop();
  process.exit();
});
