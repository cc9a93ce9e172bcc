// The types a TypeScript connector would use, checked by the compiler alone.
import type { components, operations, paths } from "./hub";

type Register = components["schemas"]["Register"];
type Find = paths["/api/plugin/matchmaking/find"]["post"];
type Found = Find["responses"][200]["content"]["application/json"];
type Failure = components["schemas"]["ErrorBody"];
type Servers = operations["list_servers"]["responses"][200]["content"]["application/json"];

export const register: Register = { serverId: "lobby-1", serverType: "lobby", host: "10.0.0.7", port: 25565 };

// @ts-expect-error a server has a port
export const portless: Register = { serverId: "lobby-1", serverType: "lobby" };

export function where(found: Found): string {
  return found.success ? `${found.matchedServer?.host}:${found.matchedServer?.port}` : found.result;
}

export function online(servers: Servers): string[] {
  return servers.items.filter((server) => server.online).map((server) => server.serverId);
}

export function why(failure: Failure): string {
  return `${failure.code}: ${failure.error} (${failure.requestId})`;
}
