// A Minecraft server that joins the hub.
import squid from "flying-squid";
import { HubConnector, HubError } from "network-hub-connector";
import { inventories } from "./inventory.mjs";
import { HOST, TRANSFER_CHANNEL, VERSION, describePunishment, quiet } from "./settings.mjs";

/** Starts a server; one of type `arena` is a game that begins with two players, any other a lobby. */
export async function startServer(client, { serverId, serverType, port }) {
  const minecraft = squid.createMCServer({
    host: HOST, port, version: VERSION, motd: serverId, "online-mode": false, "max-players": 10, "view-distance": 2, gameMode: 0,
    difficulty: 0, generation: { name: "superflat", options: {} }, kickTimeout: 60_000, plugins: {}, "max-entities": 100,
    "player-list-text": { header: { text: serverId }, footer: { text: "" } }, noConsoleOutput: true, logging: false,
  });
  minecraft.log = () => {}; // It writes to the terminal even so.
  await minecraft.waitForReady(60_000);

  const isGame = serverType === "arena";
  // Players who are here: the server's own list forgets players who came back before their last connection was over.
  const here = new Map();
  const carried = inventories(minecraft, here);
  const hub = new HubConnector(client, {
    server: { serverId, serverType, host: HOST, port, maxPlayers: 10, gameType: "MINECRAFT", playersToStart: isGame ? 2 : 0 },
    namespaces: ["example"],
    messages: { en: { welcome: "Welcome to", muted: "You are muted" }, de: { welcome: "Willkommen auf", muted: "Du bist stumm" } },
    log: quiet,
    playerData: carried,
    game: {
      // The proxy has the player's connection: it is handed the command, which is signed.
      transferPlayer(uuid, command) {
        const data = Buffer.from(JSON.stringify(command));
        here.get(uuid)._client.write("custom_payload", { channel: TRANSFER_CHANNEL, data });
      },
      kickPlayer(uuid, punishment) {
        here.get(uuid)?.kick(describePunishment(punishment));
      },
      showChat({ playerName, message }) {
        minecraft.broadcast({ text: `<${playerName}> ${message}` });
      },
      async runCommand(line) {
        return (await minecraft.commands.use(line)) ?? "";
      },
    },
  });

  // What was bought is in the inventory, and the delivery over, with the same save.
  hub.onDataDelivery("item", ({ playerUuid, payload }) => carried.give(playerUuid, payload.item));
  hub.onPlace(({ playerUuid, position, waiting }) => {
    here.get(playerUuid)?.chat(`You are number ${position} of ${waiting} in the line`);
  });

  minecraft.on("newPlayer", (player) => {
    player.on("spawned", async () => {
      const decision = await hub.checkJoin(player.uuid, player.username);
      if (!decision.allowed) return player.kick(describePunishment(decision.ban));
      if (player.disconnected) return;
      if (here.get(player.uuid) === player) return;
      if (here.has(player.uuid)) hub.playerLeft(player.uuid);
      here.set(player.uuid, player);
      hub.playerJoined(player.uuid, player.username);
      showState();
      player.chat(`${hub.localization.text(player.uuid, "welcome")} ${serverId}`);
    });
    player.on("disconnected", () => {
      if (here.get(player.uuid) !== player) return;
      hub.playerLeft(player.uuid);
      here.delete(player.uuid);
      setImmediate(showState);
    });
    // Chat goes to the hub, whose modules filter it, and comes back as showChat.
    player.on("chat_cancel", ({ message }, cancel) => {
      cancel(false);
      hub.sendChat(player.uuid, player.username, message).catch((error) => {
        const mute = hub.punishments.mute(player.uuid);
        player.chat(mute ? `${hub.localization.text(player.uuid, "muted")}: ${mute.reason}` : error.message);
      });
    });
    // Digging earns money.
    player.on("dug", async ({ block }) => {
      const earned = { ownerType: "player", ownerKey: player.uuid, currency: "coins", amount: 5, reason: block.name };
      const { balance } = await client.economy.modify(earned).catch(() => ({ balance: "?" }));
      player.chat(`You found 5 coins and have ${balance}`);
    });
  });

  function showState() {
    if (isGame) hub.setState({ gameState: minecraft.players.length >= 2 ? "STARTING" : "WAITING" });
  }

  /** A command of players; it answers a line for them. */
  function command(base, run) {
    const action = (argument, { player }) => run(player, argument).catch((error) => error.message);
    minecraft.commands.add({ base, info: base, usage: `/${base}`, onlyPlayer: true, action });
  }

  command("play", async (player) => {
    const match = await client.matchmaking.find({ serverType: "arena", playerUuid: player.uuid, playerName: player.username });
    if (!match.success) return match.errorMessage;
    const transfer = await hub.transfer(player.uuid, match.matchedServer.serverId);
    return transfer.success ? "" : transfer.errorMessage;
  });

  command("buy", async (player) => {
    try {
      const { balance } = await client.economy.spend(player.uuid, "coins", 5, "a hat");
      return `You bought a hat and have ${balance} coins left`;
    } catch (error) {
      if (HubError.is(error, "insufficient_funds")) return "You cannot afford a hat";
      throw error;
    }
  });

  command("go", async (player, serverId) => {
    const transfer = await hub.transfer(player.uuid, serverId);
    return transfer.success ? "" : transfer.errorMessage ?? transfer.result;
  });

  command("wait", async (player) => {
    const { match } = await hub.waitInLine({ playerUuid: player.uuid, playerName: player.username, serverType: "nowhere" });
    return match?.errorMessage ?? "";
  });

  minecraft.commands.add({
    base: "online",
    info: "who is here",
    usage: "/online",
    action: () => minecraft.players.map((player) => player.username).join(", "),
  });

  showState();
  await hub.connect();
  return {
    async stop() {
      await minecraft.quit();
      await hub.stop();
    },
  };
}
