// A small proxy: players connect to it and are passed on to the servers that the hub says.
import minecraft from "minecraft-protocol";
import { HubConnector } from "network-hub-connector";
import { HOST, TRANSFER_CHANNEL, VERSION, describePunishment, quiet } from "./settings.mjs";

export async function startProxy(client, { serverId, port }) {
  // The servers tell who is on them; the proxy tells of nobody.
  const unused = () => {};
  const hub = new HubConnector(client, {
    server: { serverId, serverType: "proxy", role: "PROXY", host: HOST, port, gameType: "MINECRAFT" },
    log: quiet,
    game: { transferPlayer: unused, kickPlayer: unused, showChat: unused, runCommand: () => "" },
  });
  await hub.connect();

  const options = { host: HOST, port, version: VERSION, "online-mode": false, keepAlive: false, motd: "A network on a hub" };
  const proxy = minecraft.createServer(options);
  proxy.on("login", (player) => {
    admit(player).catch((error) => player.end(error.message));
  });

  /** Asks the hub whether a player may join, and where to. */
  async function admit(player) {
    const { uuid, username } = player;
    const decision = await hub.checkJoin(uuid, username, player.socket.remoteAddress);
    if (!decision.allowed) return player.end(describePunishment(decision.ban));
    const match = await client.matchmaking.find({ serverType: "lobby-squid", playerUuid: uuid, playerName: username });
    if (!match.success) return player.end(match.errorMessage);
    passOn(player, match.matchedServer);
  }

  /** Connects a player to a server, and to others when commands to transfer them come. */
  function passOn(player, { host, port }) {
    let current;
    connect(host, port);
    player.on("packet", (data, { name, state }) => {
      if (state === minecraft.states.PLAY) current?.write(name, data);
    });
    player.on("error", () => player.end());
    player.on("end", () => current?.end());

    function connect(host, port, failed = (why) => player.end(why)) {
      const server = minecraft.createClient({ host, port, username: player.username, version: VERSION, auth: "offline", keepAlive: false });
      let kickReason;
      server.on("packet", (data, { name, state }) => {
        if (state !== minecraft.states.PLAY) return;
        if (name === "login") enter(server, data);
        else if (name === "custom_payload" && data.channel === TRANSFER_CHANNEL) transfer(JSON.parse(data.data));
        else if (name === "kick_disconnect") kickReason = JSON.parse(data.reason).text;
        else if (server === current) player.write(name, data);
      });
      server.on("error", () => server.end());
      server.on("end", () => {
        if (server === current) player.end(kickReason ?? "The server closed the connection");
        else if (!server.hasEntered) failed(kickReason ?? "The server does not answer");
      });
    }

    /** The player is on another server now: to a Minecraft client that is a new world. */
    function enter(server, login) {
      if (player.ended) return server.end();
      const previous = current;
      current = server;
      server.hasEntered = true;
      player.write("login", login);
      if (!previous) return;
      player.write("respawn", { ...login, gamemode: login.gameMode, previousGamemode: login.previousGameMode, copyMetadata: false });
      previous.end();
    }

    function transfer(command) {
      const refusal = hub.transferVerifier.refusal(command, hub.hubTime());
      const { transferId, playerUuid } = command;
      const fail = (errorMessage) =>
        client.transfers.report({ transferId, playerUuid, result: "FAILED", errorMessage }).catch(unused);
      if (refusal || playerUuid !== player.uuid) return fail(refusal ?? "another player's command");
      connect(command.host, command.port, fail);
    }
  }

  return {
    async stop() {
      proxy.close();
      await hub.stop();
    },
  };
}
