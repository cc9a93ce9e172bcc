import type { ChatMessage, GameServer, Logger, Punishment, SignedTransferCommand } from "network-hub-connector";

/** A game that notes what it is asked to do. */
export class FakeGame implements GameServer {
  readonly transfers: SignedTransferCommand[] = [];
  readonly kicked: string[] = [];
  readonly chat: ChatMessage[] = [];
  readonly commands: string[] = [];
  refusesTransfers = false;

  transferPlayer(_player: string, command: SignedTransferCommand): void {
    if (this.refusesTransfers) throw new Error("the player is in a cutscene");
    this.transfers.push(command);
  }

  kickPlayer(player: string, _reason: Punishment): void {
    this.kicked.push(player);
  }

  showChat(message: ChatMessage): void {
    this.chat.push(message);
  }

  async runCommand(command: string): Promise<string> {
    this.commands.push(command);
    if (command === "fail") throw new Error("no such command");
    return `ran ${command}`;
  }

  get lines(): string[] {
    return this.chat.map((line) => line.message);
  }
}

/** The log of connectors in tests, which outages would fill. */
export const quiet: Logger = { info() {}, warn() {} };
