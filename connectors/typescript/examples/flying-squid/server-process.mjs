// A server in a process of its own, which may be killed. Arguments: its id, type and port. HUB_URL and HUB_KEY say where the hub is.
import { HubClient } from "network-hub-connector";
import { startServer } from "./server.mjs";

const [serverId, serverType, port] = process.argv.slice(2);
await startServer(HubClient.fromEnvironment(), { serverId, serverType, port: Number(port) });
console.log("ready");
