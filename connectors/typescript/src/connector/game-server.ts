import type { ChatMessage, Punishment, SignedTransferCommand } from "../generated/schemas.js";

/**
 * A game server or proxy, as the hub needs it; the only interface that a plugin implements. Whatever it throws, or rejects with, is reported
 * to the hub or logged; it stops nothing.
 */
export interface GameServer {
  /**
   * Sends a player of this server to another one. The command is verified: it is signed, not expired, not used before, and the player is
   * here. Throws where that is not possible; the hub learns the message.
   */
  transferPlayer(player: string, command: SignedTransferCommand): void | Promise<void>;

  /** Removes a player of this server, who was banned or kicked. */
  kickPlayer(player: string, reason: Punishment): void | Promise<void>;

  /** Shows a line of the network's chat; it may come from any server, this one included. */
  showChat(message: ChatMessage): void | Promise<void>;

  /** Runs a console command (without a slash in front) and answers what it printed. Throws if it failed; the caller learns the message. */
  runCommand(command: string): string | Promise<string>;
}
