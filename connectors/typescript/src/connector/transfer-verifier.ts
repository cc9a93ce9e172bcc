import { createHmac, timingSafeEqual } from "node:crypto";
import type { SignedTransferCommand } from "../generated/schemas.js";

/** Lifetime of commands; one that was signed just before a change of the secret may still arrive. */
const COMMAND_TTL_MS = 30_000;

/**
 * Verifies transfer commands: at the server a player is on (the connector does it), and at one that is handed a command. Keep one
 * for as long as the server runs: it remembers which commands were used. Times are by the hub's clock.
 */
export class TransferVerifier {
  /** The secrets that are good, each until a time. */
  private readonly secrets = new Map<string, number>();
  /** The transfers that were carried out, each until its command has expired. */
  private readonly used = new Map<string, number>();
  /** While a registration is under way: the end of the secrets before the changes that were told since. */
  private replacedUntil: number | undefined;

  /** Begins a registration: a change of the secret that is told before its answer is newer than the answer. */
  registering(): void {
    this.replacedUntil = Infinity;
  }

  /** Takes the secret of an answer to a registration. Another one than before replaces it, after 30 seconds. */
  setSecret(signingSecret: string, hubNow: number): void {
    const replacedUntil = this.replacedUntil ?? Infinity;
    this.replacedUntil = undefined;
    if (replacedUntil === Infinity) {
      if (this.secrets.get(signingSecret) !== Infinity) this.rotate(signingSecret, hubNow + COMMAND_TTL_MS);
    } else if (!this.secrets.has(signingSecret)) {
      this.secrets.set(signingSecret, replacedUntil);
    }
  }

  /** Takes the new secret of SIGNING_SECRET_ROTATED; those before it are good until `validUntil`. */
  rotate(signingSecret: string, validUntil: number): void {
    for (const [old, until] of this.secrets) this.secrets.set(old, Math.min(until, validUntil));
    this.secrets.set(signingSecret, Infinity);
    if (this.replacedUntil !== undefined) this.replacedUntil = Math.min(this.replacedUntil, validUntil);
  }

  /** Returns the reason to refuse a command; undefined if it may be obeyed, and then it counts as used. */
  refusal(command: SignedTransferCommand, hubNow: number): string | undefined {
    for (const times of [this.secrets, this.used]) {
      for (const [key, until] of times) if (until <= hubNow) times.delete(key);
    }
    if (!this.isSigned(command)) return "the signature is wrong";
    if (command.expiresAt <= hubNow) return "the command has expired";
    if (this.used.has(command.transferId)) return "the command was used already";
    this.used.set(command.transferId, command.expiresAt);
    return undefined;
  }

  /** While the secret changes a command carries several signatures; one that is right is enough. */
  private isSigned(command: SignedTransferCommand): boolean {
    const given = (command.signature ?? "").split(" ");
    const right = [...this.secrets.keys()].map((secret) => sign(secret, command));
    // Compared in constant time, so that a forger learns nothing from how long it takes.
    return right.some((expected) => given.some((signature) => isEqual(expected, signature)));
  }
}

/** The signature of a command with one secret. */
export function sign(secret: string, command: Omit<SignedTransferCommand, "signature" | "issuedAt">): string {
  const { transferId, playerUuid, targetServerId, targetWorldId, host, port, expiresAt } = command;
  const text = [transferId, playerUuid, targetServerId, targetWorldId ?? "", host, port, expiresAt].join(".");
  return "v1," + createHmac("sha256", secret).update(text).digest("base64");
}

function isEqual(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
