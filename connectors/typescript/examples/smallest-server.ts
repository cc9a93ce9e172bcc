import { HubClient, HubConnector } from "network-hub-connector";

const hub = new HubConnector(HubClient.fromEnvironment(), {
  server: { serverId: "my-node-server", serverType: "lobby", port: 25565, maxPlayers: 20 },
  game: {
    transferPlayer: (player, command) => console.log(`send ${player} to ${command.host}:${command.port}`),
    kickPlayer: (player, reason) => console.log(`kick ${player}: ${reason.reason}`),
    showChat: (line) => console.log(`<${line.playerName}> ${line.message}`),
    runCommand: (command) => `you said ${command}`,
  },
});
await hub.connect();
hub.playerJoined("069a79f4-44e9-4726-a5be-fca90e38aaf5", "Notch");
process.once("SIGTERM", () => hub.stop());
