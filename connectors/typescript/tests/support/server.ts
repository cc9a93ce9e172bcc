import type { HubClient } from "network-hub-connector";
import { HubConnector } from "network-hub-connector";
import { eventually } from "./eventually.js";
import { FakeGame, quiet } from "./game.js";
import type { Hub } from "./hub.js";
import { Inventories } from "./inventories.js";

let servers = 0;

/** A game server with inventories. */
export class GameServerWithData {
  private constructor(
    readonly connector: HubConnector,
    readonly game: FakeGame,
    readonly inventories: Inventories,
  ) {}

  static async start(hub: Hub, prepare: (server: GameServerWithData) => void = () => {}, autosaveMs?: number): Promise<GameServerWithData> {
    const game = new FakeGame();
    const inventories = new Inventories(autosaveMs);
    const server = { serverId: `games-${servers++}`, serverType: "games", host: "10.0.0.1", port: 25565 };
    const connector = new HubConnector(hub.client(), { server, game, playerData: inventories, log: quiet });
    const started = new GameServerWithData(connector, game, inventories);
    prepare(started);
    await connector.connect();
    return started;
  }

  async join(player: string): Promise<void> {
    this.connector.playerJoined(player, "Ann");
    await this.has(player);
  }

  async has(player: string): Promise<void> {
    await eventually("the player's data is applied", () => this.connector.playerData.isOpen(player));
  }

  leave(player: string): void {
    this.connector.playerLeft(player);
    this.inventories.held.delete(player);
  }
}

/** The items of a player that the hub has. */
export async function stored(owner: HubClient, player: string): Promise<Record<string, number>> {
  return (await owner.players.getData<Record<string, number>>(player, "global", "inventory"))?.value ?? {};
}

export async function sessionIs(owner: HubClient, player: string, state: string): Promise<void> {
  await eventually(`the session is ${state}`, async () => (await owner.players.session(player))?.state === state);
}
