import type { LanguageSource, Locale, LocalizationCatalog, PlayerLanguage } from "../generated/schemas.js";
import { path, type Transport } from "../transport.js";

/** Messages and languages. */
export class LocalizationApi {
  constructor(private readonly transport: Transport) {}

  /** The messages of these namespaces, all unless named. Of two namespaces with the same key the first one named counts. */
  catalog(namespaces: Iterable<string> = []): Promise<LocalizationCatalog> {
    const namespace = [...namespaces].join(",") || undefined;
    return this.transport.send({ method: "GET", path: path`localization/catalog`, query: { namespace } });
  }

  /** Adds the messages that are missing; never overwrites one, so do it at every start. Returns the number of new ones. */
  async registerDefaults(namespace: string, locale: string, entries: Record<string, string>): Promise<number> {
    const body = { namespace, locale, entries };
    const answer = await this.transport.send<{ inserted: number }>({ method: "POST", path: path`localization/defaults`, body });
    return answer.inserted;
  }

  /** The languages, the default first. */
  locales(): Promise<Locale[]> {
    return this.transport.send({ method: "GET", path: path`localization/locales` });
  }

  /** A player's language. */
  language(uuid: string): Promise<PlayerLanguage> {
    return this.transport.send({ method: "GET", path: path`localization/players/${uuid}/locale` });
  }

  /**
   * Sets a player's language; null unsets it.
   *
   * @param username records a player who was never seen
   */
  setLanguage(uuid: string, locale: string | null, source: LanguageSource, username?: string): Promise<PlayerLanguage> {
    const body = { locale, source };
    return this.transport.send({ method: "PUT", path: path`localization/players/${uuid}/locale`, query: { username }, body });
  }
}
