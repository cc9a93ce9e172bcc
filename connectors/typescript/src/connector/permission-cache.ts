import type { HubClient } from "../client.js";
import type { EffectivePermissions } from "../generated/schemas.js";
import { playerId } from "./player-id.js";
import { now } from "./time.js";

/** Lifetime of the permissions of players who did not join or have left. */
const KEPT_MS = 5 * 60_000;

interface Entry {
  readonly nodes: Map<string, boolean | null>;
  readonly answer: EffectivePermissions;
  readonly etag: string | undefined;
  readonly askedAt: number;
}

/**
 * Permissions of players. Answers immediately, from memory; while the hub is away, with the last known state. Read when a player is
 * checked, and again when the hub announces a change.
 */
export class PermissionCache {
  private readonly entries = new Map<string, Entry>();
  /** Time of the last announced change. */
  private changedAt = now();

  constructor(
    private readonly client: HubClient,
    private readonly context: string | undefined,
  ) {}

  /** True if a player has a permission; false for unknown players. */
  has(player: string, node: string): boolean {
    return this.check(player, node) === true;
  }

  /** Allowed, denied, or undefined where the network says nothing: then it is up to the server's defaults. */
  check(player: string, node: string): boolean | undefined {
    const nodes = this.entries.get(playerId(player))?.nodes;
    const name = node.toLowerCase();
    const parts = name.split(".");
    // Of wildcards the longest wins; `kit.*` does not cover `kit` itself.
    const wildcards = parts.map((_, at) => [...parts.slice(0, at), "*"].join(".")).reverse();
    for (const candidate of [name, ...wildcards]) {
      const value = nodes?.get(candidate);
      if (value !== undefined && value !== null) return value;
    }
    return undefined;
  }

  /** The hub's last answer about a player, with their groups. */
  get(player: string): EffectivePermissions | undefined {
    return this.entries.get(playerId(player))?.answer;
  }

  /** An answer to a question that was asked at this time; dropped where a later one was answered before. @internal */
  put(player: string, answer: EffectivePermissions, etag: string | undefined, askedAt: number): void {
    const known = this.entries.get(player);
    if (known !== undefined && known.askedAt > askedAt) return;
    const nodes = new Map(Object.entries(answer.permissions).map(([node, value]) => [node.toLowerCase(), value]));
    this.entries.set(player, { nodes, answer, etag, askedAt });
  }

  /** @internal */
  async refresh(player: string): Promise<void> {
    const known = this.entries.get(player);
    const askedAt = now();
    const { permissions, etag } = await this.client.permissions.effective(player, { context: this.context, etag: known?.etag });
    const answer = permissions ?? known?.answer;
    if (answer !== undefined) this.put(player, answer, etag, askedAt);
  }

  /** Records that an event announced a change. @internal */
  changed(): void {
    this.changedAt = now();
  }

  /** True if a change was announced after the known state was requested. @internal */
  mayBeStale(player: string): boolean {
    const entry = this.entries.get(player);
    return entry === undefined || entry.askedAt <= this.changedAt;
  }

  /** True if the known state may be older than this change. @internal */
  isBefore(player: string, revision: number): boolean {
    const entry = this.entries.get(player);
    return entry === undefined || entry.answer.revision < revision;
  }

  /** True if a player's permissions have expired. @internal */
  hasExpired(player: string, hubNow: number): boolean {
    const entry = this.entries.get(player);
    return entry === undefined || (entry.answer.validUntil !== null && entry.answer.validUntil <= hubNow);
  }

  /** Forgets those who are not online. @internal */
  prune(online: ReadonlySet<string>): void {
    for (const [player, { askedAt }] of this.entries) {
      if (!online.has(player) && now() - askedAt > KEPT_MS) this.entries.delete(player);
    }
  }
}
