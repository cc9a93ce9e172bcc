// Plays the scenario and checks what the players saw, and where the hub says they are.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { playScenario } from "./end-to-end.mjs";
import { startHub } from "./hub.mjs";
import { startNetwork } from "./network.mjs";

const cleanUp = [];
after(async () => {
  for (const stop of cleanUp.reverse()) await stop();
});

test("players connect, chat, play and come back, end to end", { timeout: 300_000 }, async () => {
  const hub = await startHub(process.env.HUB_BINARY ?? "hub");
  cleanUp.push(hub.stop);
  const network = await startNetwork(hub);
  cleanUp.push(network.stop);
  const seen = [];
  const { ann, ben, cat, benAgain, catAgain, output } = await playScenario(hub, network.port, (line) => seen.push(line));
  cleanUp.push(() => [ann, catAgain].forEach((bot) => bot.leave()));

  // Lines that the filter refused or that were said while muted reached nobody.
  const all = [ann, ben, cat, catAgain].flatMap((bot) => bot.lines);
  assert.ok(!all.some((line) => line.includes("noob") && line.startsWith("<Ann>")));
  assert.ok(!all.includes("<Ann> can you hear me?"));
  // A banned player does not get in.
  assert.deepEqual(benAgain.lines, ["You are banned: cheating"]);
  // The reason of a kick is the last thing that is seen.
  assert.equal(ben.lines.at(-1), "You are banned: cheating");
  assert.equal(cat.lines.at(-1), "You were kicked: go to bed");
  assert.deepEqual(output.split(", ").sort(), ["Ann", "Ben"]);
  // Cat was refused by the module, so they never were in the arena.
  assert.ok(!cat.lines.includes("Welcome to arena"));

  const { owner } = hub;
  const player = (bot) => () => owner.players.get(bot.uuid);
  await hubSays("Ann is in the arena", player(ann), ({ connection }) => connection?.serverId === "arena");
  await hubSays("Cat is in the lobby", player(catAgain), ({ connection }) => connection?.serverId === "lobby");
  await hubSays("Ben is gone", player(ben), ({ online }) => online === false);
  assert.deepEqual(await owner.economy.balances("player", ben.uuid), [{ currencyName: "coins", balance: 0 }]);
  // A heartbeat that is late shows, too.
  await hubSays("all servers are connected", () => owner.servers.list({ online: true, limit: 200 }), ({ items }) => {
    const ours = items.filter(({ serverId }) => ["lobby", "arena", "proxy"].includes(serverId));
    return ours.map(({ role, connectivity }) => `${role} ${connectivity}`).sort().join() === "GAME CONNECTED,GAME CONNECTED,PROXY CONNECTED";
  });
});

/** Waits until what the hub says is right: a server greets its players before it has reported them. */
async function hubSays(what, read, isRight) {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const said = await read();
    if (isRight(said)) return;
    if (Date.now() > deadline) assert.fail(`not in time: ${what}: ${JSON.stringify(said)}`);
    await sleep(50);
  }
}
