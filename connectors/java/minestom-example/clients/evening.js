// An evening on the network, as five players see it. What they do not see as they should ends it.
import assert from "node:assert/strict";
import { Player, until } from "./player.js";

export const NAMES = ["Anna", "Ben", "Cleo", "Dora", "Emil"];

/** Waits until a player is on a server and has their items there. */
export async function arrives(player, server, from) {
  await until(() => `${player.name} comes to ${server.id}${player.kicked ? `, gone: ${player.kicked}` : ""}`,
    () => player.port === server.port && player.isHere);
  await player.sees("Your inventory is here.", from);
}

/** Sends a player to a server by its line, and waits until they are there. */
async function moves(player, command, server) {
  const from = player.lines.length;
  player.say(command);
  await arrives(player, server, from);
}

/** Plays it; what happens is told to `tell`. Returns the players, who stay. */
export async function evening(network, tell) {
  const { lobby, arenas: [american, european] } = network;
  const players = NAMES.map((name) => new Player(name));
  const [anna, ben, cleo, dora, emil] = players;

  for (const player of players) {
    assert.equal(await player.join(lobby.port), null);
    await arrives(player, lobby, 0);
    await until(`the hub knows that ${player.name} is in the lobby`, async () => (await network.place(player)) === lobby.id);
  }
  tell(`${NAMES.join(", ")} have joined ${lobby.id}, and the hub knows it`);

  await anna.ask("/find Ben", "You may not do that.");
  for (const node of ["mute", "unmute", "ban", "find"]) {
    await network.call("POST", `/api/plugin/permissions/users/${anna.uuid}/permissions`, { node: `network-hub.command.${node}`, value: true });
  }
  await until("Anna may do it", async () => {
    const answer = await anna.ask("/find Ben", /Ben is on|You may not/);
    return answer.includes("Ben is on");
  });
  tell("Anna became a moderator while playing");

  await moves(anna, "/queue arena", european);
  await moves(ben, "/queue arena", european);
  tell(`the module region-first matched Anna and Ben to ${european.id}, which is in the lobby's region; the hub alone takes ${american.id}`);
  await moves(cleo, "/queue arena", american);
  await moves(dora, "/queue arena", american);
  await emil.ask("/queue arena", "You are 1 of 1 in line");
  tell(`Cleo and Dora came to ${american.id}; both are full, and Emil waits in the lobby as number 1`);

  ben.say("hello from the arena");
  for (const player of players) await player.sees("Ben: hello from the arena");
  ben.say("you noob");
  for (const player of players) await player.sees(/Ben: you \*+/);
  assert.ok(players.every((player) => !player.lines.some((line) => line.includes("noob"))), "the filter");
  tell("Ben's chat reaches all servers, and the module chat-guard made stars of a word");

  await anna.ask("/mute Ben 10m spam", /Ben: mute/);
  await ben.sees("You were muted: spam");
  await ben.ask("can you hear me", "You are muted");
  await anna.ask("/unmute Ben", "were revoked");
  await until("Ben can talk", async () => {
    const from = emil.lines.length;
    ben.say("that was quiet");
    return emil.sees("Ben: that was quiet", from, 2_000).catch(() => false);
  });
  assert.ok(players.every((player) => !player.lines.some((line) => line.includes("can you hear me"))), "the mute");
  tell("Anna muted Ben: nobody heard him until she lifted it");

  const from = emil.lines.length;
  await moves(dora, "/lobby", lobby);
  await emil.sees("It is your turn", from);
  await arrives(emil, american, from);
  tell(`Dora went back to the lobby, and it was Emil's turn: he came to ${american.id}`);

  await cleo.ask("/buy diamond 5", "You received 5 diamond");
  assert.equal(cleo.count("diamond"), 5);
  await cleo.ask("/balance", "90");
  await ben.ask("/buy iron_sword 1", "You received 1 iron_sword");
  const order = { playerUuid: dora.uuid, kind: "item", payload: { item: "bread", amount: 3 }, reference: `web-${dora.uuid}`, onLost: "RETRY" };
  const first = await network.call("POST", "/api/plugin/deliveries", order);
  const again = await network.call("POST", "/api/plugin/deliveries", order);
  assert.equal(again.deliveryId, first.deliveryId);
  await dora.sees("You received 3 bread");
  await until("the order is done", async () =>
    (await network.call("GET", `/api/manage/deliveries?playerUuid=${dora.uuid}`)).items.every((delivery) => delivery.state === "DELIVERED"));
  assert.equal(dora.count("bread"), 3);
  tell("Cleo bought 5 diamonds for 10 of her 100 coins; Dora's order in the web shop was sent twice and delivered once: 3 breads");

  for (const [command, server] of [["/lobby", lobby], [`/server ${american.id}`, american], ["/lobby", lobby]]) {
    await moves(cleo, command, server);
    assert.equal(cleo.count("diamond"), 5);
  }
  tell("Cleo changed servers three times, with her 5 diamonds");

  await anna.ask("/ban Ben griefing", /Ben: ban/);
  const reason = await until("Ben is removed", () => ben.kicked);
  assert.match(reason, /You are banned[^]*griefing/);
  const code = /To appeal: (\S+)/.exec(reason)?.[1];
  assert.ok(code, reason);
  for (const server of network.servers) assert.match(await ben.join(server.port), /You are banned[^]*griefing/);
  tell("Anna banned Ben: he was removed at once, and none of the servers lets him in");

  await network.call("POST", `/api/public/appeals/${code}`, { text: "It was my little brother.", contact: "ben@example.org" });
  const { items: [appeal] } = await network.call("GET", "/api/manage/appeals?state=OPEN");
  await network.call("POST", `/api/manage/appeals/${appeal.appealId}/decide`, { decision: "ACCEPT", answer: "Welcome back." });
  let here = 0;
  await until("Ben may join again", async () => {
    here = ben.lines.length;
    return (await ben.join(lobby.port)) === null;
  });
  await arrives(ben, lobby, here);
  assert.equal(ben.count("iron_sword"), 1);
  tell("Ben appealed with the code that he was shown, the staff accepted, and he is back with his sword");
  return players;
}
