// The end-to-end scenario: what the players do, and what each of them has to see.
import { setTimeout as sleep } from "node:timers/promises";
import { Bot } from "./bot.mjs";

export async function playScenario({ owner }, port, tell) {
  const join = async (name) => {
    const bot = new Bot(name, port, tell);
    await bot.sees("Welcome to lobby");
    return bot;
  };
  // Events come in the order they happened: who sees this line is on a server that knows what happened before it.
  const announce = (message) =>
    owner.chat.send({ playerUuid: "00000000-0000-4000-8000-000000000000", playerName: "Hub", message, serverId: "console" });

  const ann = await join("Ann");
  const ben = await join("Ben");
  const cat = await join("Cat");

  tell("\n-- Chat goes through the network's filter");
  ann.say("hello you noob");
  for (const bot of [ann, ben, cat]) await bot.sees("<Ann> hello you ****");

  tell("\n-- Ann is muted for a while");
  const mute = await owner.punishments.punish({ playerUuid: ann.uuid, type: "MUTE", reason: "spam" });
  await announce("Ann was muted");
  await ann.sees("<Hub> Ann was muted");
  ann.say("can you hear me?");
  await ann.sees("You are muted: spam");
  await owner.punishments.remove({ punishmentId: mute.id });
  await announce("Ann may speak again");
  await ann.sees("<Hub> Ann may speak again");
  ann.say("sorry");
  await ben.sees("<Ann> sorry");

  tell("\n-- Ben earns money and spends it");
  await ben.dig();
  await ben.sees("You found 5 coins and have 5");
  ben.say("/buy");
  await ben.sees("You bought a hat and have 0 coins left");
  ben.say("/buy");
  await ben.sees("You cannot afford a hat");

  tell("\n-- Ann and Ben are matched and sent to the arena; chat reaches both servers");
  for (const bot of [ann, ben]) {
    bot.say("/play");
    await bot.sees("Welcome to arena");
  }
  ann.say("who else is coming?");
  for (const bot of [ben, cat]) await bot.sees("<Ann> who else is coming?");

  tell("\n-- The game is starting: the module sends nobody there any more");
  await knowsState(owner, "arena", "STARTING");
  cat.say("/play");
  await cat.sees("Every game has started; try again in a moment.");

  tell("\n-- The owner asks the arena's console who is there");
  const { output } = await owner.call("POST", "/api/manage/servers/arena/command", { command: "online" });
  tell(`arena: ${output}`);

  tell("\n-- Ben is banned, Cat is kicked");
  await owner.punishments.punish({ playerUuid: ben.uuid, type: "BAN", reason: "cheating" });
  await ben.sees("You are banned: cheating");
  const benAgain = new Bot("Ben", port, tell);
  await benAgain.sees("You are banned: cheating");
  await owner.punishments.punish({ playerUuid: cat.uuid, type: "KICK", reason: "go to bed" });
  await cat.sees("You were kicked: go to bed");
  const catAgain = await join("Cat");

  return { ann, ben, cat, benAgain, catAgain, output };
}

/** Waits until the hub knows a server's state: the next heartbeat tells it. */
async function knowsState(owner, serverId, gameState) {
  const isKnown = async () => {
    const { items } = await owner.servers.list({ search: serverId, online: true });
    return items.some((server) => server.serverId === serverId && server.live?.gameState === gameState);
  };
  const deadline = Date.now() + 60_000;
  while (!(await isKnown())) {
    if (Date.now() > deadline) throw new Error(`${serverId} did not get to ${gameState}`);
    await sleep(50);
  }
}
