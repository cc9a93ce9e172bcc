// Starts the network and plays the evening. With SWITCHES the players change servers that often, and all ends; else the servers stay.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Network } from "./network.js";
import { evening } from "./evening.js";
import { switches } from "./switches.js";

const total = Number(process.env.SWITCHES ?? 0);
const began = Date.now();
const tell = (line) => console.log(`${String(Math.round((Date.now() - began) / 1000)).padStart(4)} s  ${line}`);
const folder = await mkdtemp(join(tmpdir(), "hub-evening-"));
const network = new Network(folder);
let players = [];
let status = 0;

async function end() {
  for (const player of players) player.leave();
  await network.stop();
  if (status === 0) await rm(folder, { recursive: true, force: true });
  process.exit(status);
}
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, end);

try {
  await network.start(total > 0 ? 0 : Number(process.env.HUB_PORT ?? 8080));
  tell(`hub demo is at ${network.url}`);
  await network.startServers(total > 0 ? null : Number(process.env.LOBBY_PORT ?? 25565));
  for (const { id, type, region, port } of network.servers) tell(`${id} of the type ${type} in ${region} is at localhost:${port}`);
  players = await evening(network, tell);
  if (total > 0) await switches(network, players, total, tell);
} catch (failure) {
  console.error(failure);
  console.error(`The logs are in ${folder}.`);
  status = 1;
}
if (total > 0 || status !== 0) await end();

const [mira] = network.accounts;
console.log(`
The network stays until Ctrl-C.
  Your own Minecraft 26.1.2: Multiplayer, Direct Connection, localhost:${network.lobby.port}. Then /queue arena, /server, /buy diamond 5.
  The console: ${network.url}/console, as ${mira.replace(/ +/, " with the password ")}
`);
// The guests stay for a chat.
