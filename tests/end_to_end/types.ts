// Uses the generated types like a TypeScript connector; checked by the compiler alone.
import type { components, operations, paths } from "./hub";

type Register = components["schemas"]["ServerRegistration"];
type Find = paths["/api/plugin/matchmaking/find"]["post"];
type Match = Find["responses"][200]["content"]["application/json"];
type Failure = components["schemas"]["ErrorBody"];
type Servers = operations["listServers"]["responses"][200]["content"]["application/json"];

export const register: Register = { serverId: "lobby-1", serverType: "lobby", host: "10.0.0.7", port: 25565 };

// @ts-expect-error a server has a port
export const withoutPort: Register = { serverId: "lobby-1", serverType: "lobby" };

export function address(match: Match): string {
  return match.success ? `${match.matchedServer?.host}:${match.matchedServer?.port}` : match.result;
}

export function online(servers: Servers): string[] {
  return servers.items.filter((server) => server.online).map((server) => server.serverId);
}

export function describe(failure: Failure): string {
  return `${failure.code}: ${failure.error} (${failure.requestId})`;
}
