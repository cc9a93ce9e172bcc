import { randomUUID } from "node:crypto";
import type { HubClient } from "../client.js";
import { describe, HubError } from "../errors.js";
import type { ConsoleCommandOrder, SignedTransferCommand, TransferOutcome } from "../generated/schemas.js";
import type { Logger } from "../logger.js";
import { sleep } from "../retry.js";
import type { GameServer } from "./game-server.js";
import { now, persist, type HubClock } from "./time.js";
import type { TransferVerifier } from "./transfer-verifier.js";

/** Lifetime of transfer commands, and of reports of them. */
const COMMAND_TTL_MS = 30_000;

/** Parts of the connector that the hub's commands need. */
export interface CommandContext {
  readonly client: HubClient;
  readonly game: GameServer;
  readonly clock: HubClock;
  readonly verifier: TransferVerifier;
  readonly log: Logger;
  readonly stopped: AbortSignal;
  isHere(player: string): boolean;
  hasPendingChanges(player: string): boolean;
}

/** Carries out a transfer command. */
export async function carryOutTransfer(context: CommandContext, command: SignedTransferCommand): Promise<void> {
  const { client, clock, game, log, stopped, verifier } = context;
  const { playerUuid, transferId } = command;
  const refusal = verifier.refusal(command, clock.now());
  if (refusal !== undefined) return log.warn(`Transfer ${transferId} is refused: ${refusal}`);
  try {
    if (!context.isHere(playerUuid)) throw new Error("The player is not on this server.");
    await game.transferPlayer(playerUuid, command);
  } catch (failure) {
    const report = { transferId, playerUuid, result: "FAILED", errorMessage: describe(failure) };
    await persist(() => client.transfers.report(report), COMMAND_TTL_MS, stopped);
  }
}

/**
 * Asks for a transfer, for as long as there is patience while the hub is away, the player's server is reconnecting, or the hub is
 * only learning that the player is here.
 */
export async function askForTransfer(
  context: CommandContext, player: string, serverId: string, worldId: string | undefined, patienceMs: number,
): Promise<TransferOutcome> {
  const deadline = now() + patienceMs;
  const pause = async (ms: number) => {
    await sleep(ms, context.stopped);
    if (context.stopped.aborted) throw new HubError("stopped", "The connector was stopped.");
  };
  for (;;) {
    while (context.hasPendingChanges(player) && now() < deadline) await pause(100);
    const options = { worldId, idempotencyKey: randomUUID() };
    const ask = () => context.client.transfers.transfer(player, serverId, options);
    const outcome = await persist(ask, Math.max(0, deadline - now()), context.stopped);
    const isPassing =
      outcome.result === "NOT_CONNECTED" || (outcome.result === "PLAYER_OFFLINE" && context.isHere(player));
    if (!isPassing || now() >= deadline) return outcome;
    await pause(1_000);
  }
}

/** Runs a console command that the hub asks for, and answers it. Never runs one whose caller has timed out. */
export async function runConsoleCommand(context: CommandContext, order: ConsoleCommandOrder & { at: number }): Promise<void> {
  const { client, clock, game, log, stopped } = context;
  if (order.at + order.timeoutMs <= clock.now()) return log.info("A console command came too late and was not run");
  let result: { success: boolean; output?: string; error?: string };
  try {
    result = { success: true, output: await game.runCommand(order.command) };
  } catch (failure) {
    result = { success: false, error: describe(failure) };
  }
  const report = { requestId: order.requestId, ...result };
  await persist(() => client.servers.reportCommand(report), order.timeoutMs, stopped);
}
