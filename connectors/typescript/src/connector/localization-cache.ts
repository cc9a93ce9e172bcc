import type { HubClient } from "../client.js";
import type { LanguageSource, LocalizationCatalog, PlayerLanguage } from "../generated/schemas.js";
import { playerId } from "./player-id.js";
import { now } from "./time.js";

/** The plugin's own messages, by language and then by key. */
export type Messages = Record<string, Record<string, string>>;

/**
 * Messages in the players' languages. Answers immediately, from memory. While the hub is away it answers what was known last, and before the
 * first answer the defaults of the plugin.
 */
export class LocalizationCache {
  /** The catalog as it was read last. */
  catalog: LocalizationCatalog | undefined;
  private readonly languages = new Map<string, { readonly answer: PlayerLanguage; readonly askedAt: number }>();

  constructor(
    private readonly client: HubClient,
    private readonly namespaces: readonly string[],
    private readonly defaults: Messages,
    private readonly defaultLocale: string,
  ) {}

  /** A message in a player's language. */
  text(player: string, key: string): string {
    return this.textIn(this.locale(player), key);
  }

  /** A message in a language, else in the default language, else as the plugin has it; else the key. */
  textIn(locale: string, key: string): string {
    const messages: Messages = this.catalog?.messages ?? {};
    return (
      messages[locale]?.[key] ??
      messages[this.catalog?.defaultLocale ?? ""]?.[key] ??
      this.defaults[locale]?.[key] ??
      this.defaults[this.defaultLocale]?.[key] ??
      key
    );
  }

  /** A player's language, or the default one. */
  locale(player: string): string {
    return this.language(player)?.locale ?? this.catalog?.defaultLocale ?? this.defaultLocale;
  }

  /** Returns the known language of a player, with its source: a chosen one need not be asked for again. */
  language(player: string): PlayerLanguage | undefined {
    return this.languages.get(playerId(player))?.answer;
  }

  /** Sets a player's language at the hub and here; null unsets it. */
  async setLanguage(player: string, locale: string | null, source: LanguageSource): Promise<PlayerLanguage> {
    const stored = await this.client.localization.setLanguage(player, locale, source);
    // From now on: what was asked meanwhile may not show it.
    this.put(playerId(player), stored, now());
    return stored;
  }

  /** An answer to a question that was asked at this time; dropped where a later one was answered before. @internal */
  put(player: string, answer: PlayerLanguage, askedAt: number): void {
    const known = this.languages.get(player);
    if (known === undefined || known.askedAt <= askedAt) this.languages.set(player, { answer, askedAt });
  }

  /** @internal */
  prune(online: ReadonlySet<string>): void {
    for (const player of this.languages.keys()) if (!online.has(player)) this.languages.delete(player);
  }

  /** @internal */
  async refreshLanguage(player: string): Promise<void> {
    const askedAt = now();
    this.put(player, await this.client.localization.language(player), askedAt);
  }

  /** @internal */
  async refreshCatalog(): Promise<void> {
    if (this.namespaces.length === 0) return;
    const read = await this.client.localization.catalog(this.namespaces);
    // An answer that was overtaken by a newer one is dropped.
    if (this.catalog === undefined || read.version >= this.catalog.version) this.catalog = read;
  }

  /** Registers the plugin's defaults under the first namespace. @internal */
  async registerDefaults(): Promise<void> {
    for (const [locale, entries] of Object.entries(this.defaults)) {
      await this.client.localization.registerDefaults(this.namespaces[0] ?? "", locale, entries);
    }
  }
}
