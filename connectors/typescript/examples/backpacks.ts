// Backpacks, which move with them from server to server.
import { HubConnector, type ConnectorOptions, type HubClient, type PlayerDataHandler } from "network-hub-connector";

type Items = Record<string, number>;

export class Backpacks implements PlayerDataHandler {
  readonly namespaces = ["backpack"];
  readonly items = new Map<string, Items>();

  apply(player: string, { backpack }: { backpack?: Items }): void {
    this.items.set(player, backpack ?? {});
  }

  capture(player: string): { backpack: Items } {
    return { backpack: this.items.get(player)! };
  }

  ended(player: string): void {
    this.items.delete(player); // Another server has them now.
  }
}

export function connectorWithBackpacks(client: HubClient, options: ConnectorOptions, backpacks: Backpacks): HubConnector {
  const hub = new HubConnector(client, { ...options, playerData: backpacks });
  hub.onDataDelivery("item", ({ playerUuid, payload }) => {
    const items = backpacks.items.get(playerUuid!)!;
    const { item } = payload as { item: string };
    items[item] = (items[item] ?? 0) + 1;
  });
  return hub;
}

export async function waitForDuel(hub: HubConnector, playerUuid: string): Promise<string> {
  hub.onPlace(({ position, waiting }) => console.log(`you are number ${position} of ${waiting}`));
  const { match } = await hub.waitInLine({ playerUuid, serverType: "duels" });
  return match?.success ? "you are on your way" : "you will be sent when it is your turn";
}
