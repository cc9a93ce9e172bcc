// Recipes of the guide.
import { HubError, type HubConnector, type Match, type TransferOutcome } from "network-hub-connector";

/** Lets a player in, or says why not. */
export async function join(hub: HubConnector, player: string, name: string, ip: string): Promise<string> {
  const decision = await hub.checkJoin(player, name, ip);
  if (decision.allowed) {
    hub.playerJoined(player, name);
    return `${hub.localization.text(player, "welcome")}, ${name}`;
  }
  return decision.reason === "BANNED" ? `banned: ${decision.ban.reason}` : "try again in a minute";
}

/** Sells something; false if the player cannot pay. */
export async function buy(hub: HubConnector, player: string, price: number): Promise<boolean> {
  try {
    await hub.client.economy.spend(player, "coins", price, "sword");
    return true;
  } catch (error) {
    if (HubError.is(error, "insufficient_funds")) return false;
    throw error;
  }
}

/** Changes a player's data so that no other server's change is lost. */
export async function change<T>(hub: HubConnector, player: string, empty: T, change: (data: T) => T): Promise<T> {
  const { players } = hub.client;
  for (;;) {
    const read = await players.getData<T>(player, "skyblock", "profile");
    try {
      const next = change(read?.value ?? empty);
      return (await players.putData(player, "skyblock", "profile", next, read?.version ?? 0)).value;
    } catch (error) {
      if (!HubError.is(error, "version_conflict")) throw error;
    }
  }
}

/** Finds a place for a party and sends everybody there. */
export async function playTogether(hub: HubConnector, leader: string, party: string[]): Promise<Match> {
  const match = await hub.client.matchmaking.find({ serverType: "bedwars", playerUuid: leader, party });
  const server = match.matchedServer;
  if (server !== null) await Promise.all(party.map((player) => hub.transfer(player, server.serverId)));
  return match;
}

/** Opens a player's island, wherever it runs, and sends them there. */
export async function visitIsland(hub: HubConnector, player: string): Promise<TransferOutcome> {
  const world = await hub.openWorld({ gameId: "islands", ownerScope: "player", ownerId: player });
  if (world.matchedServer === null || world.worldInstanceId === null) throw new Error(world.errorMessage ?? "no island");
  return hub.transfer(player, world.matchedServer.serverId, world.worldInstanceId);
}
