import { CollectionsApi } from "./api/collections.js";
import { DeliveriesApi } from "./api/deliveries.js";
import { EconomyApi } from "./api/economy.js";
import { LocalizationApi } from "./api/localization.js";
import { ChatApi, ConfigApi, MatchmakingApi, TransfersApi } from "./api/network.js";
import { PermissionsApi } from "./api/permissions.js";
import { PlayersApi } from "./api/players.js";
import { PunishmentsApi } from "./api/punishments.js";
import { ServersApi } from "./api/servers.js";
import { WorldsApi } from "./api/worlds.js";
import { EventStream, type EventStreamListener, type EventStreamOptions } from "./event-stream.js";
import type { BuildStamp } from "./generated/schemas.js";
import { DEFAULT_RETRIES, type RetryPolicy } from "./retry.js";
import { Transport } from "./transport.js";

/** The settings of a client. */
export interface HubClientOptions {
  /** The hub's address, such as `https://hub.example`. */
  readonly url: string;
  /** An API key; game servers need the scope `plugin`. */
  readonly apiKey: string;
  /** Time limit for one attempt of a call; 15 s by default. */
  readonly timeoutMs?: number;
  /** Policy for repeats. */
  readonly retry?: RetryPolicy;
}

/**
 * All calls of a game server to its hub. They fail with a `HubError`.
 *
 * Calls that may be repeated without a second effect are, after a delay, where no answer came or the hub was stopping or over a rate
 * limit. Others that change something carry an `Idempotency-Key`, with which the hub carries out a repeat once. Two calls are made
 * once only: `players.putData` with a version, and `servers.heartbeat`.
 *
 * Times are milliseconds since the Unix epoch, spans are milliseconds where a name ends in `Ms`.
 */
export class HubClient {
  readonly servers: ServersApi;
  readonly players: PlayersApi;
  readonly economy: EconomyApi;
  readonly matchmaking: MatchmakingApi;
  readonly transfers: TransfersApi;
  readonly punishments: PunishmentsApi;
  readonly permissions: PermissionsApi;
  readonly localization: LocalizationApi;
  readonly config: ConfigApi;
  readonly collections: CollectionsApi;
  readonly worlds: WorldsApi;
  readonly chat: ChatApi;
  readonly deliveries: DeliveriesApi;
  private readonly transport: Transport;

  constructor(private readonly options: HubClientOptions) {
    const url = options.url.trim();
    const key = options.apiKey.trim();
    if (!/^https?:\/\//.test(url)) throw new TypeError(`the hub's address must begin with http:// or https://: ${url}`);
    if (key === "") throw new TypeError("the API key is blank");
    this.transport = new Transport(url, key, options.timeoutMs ?? 15_000, options.retry ?? DEFAULT_RETRIES);
    this.servers = new ServersApi(this.transport);
    this.players = new PlayersApi(this.transport);
    this.economy = new EconomyApi(this.transport);
    this.matchmaking = new MatchmakingApi(this.transport);
    this.transfers = new TransfersApi(this.transport);
    this.punishments = new PunishmentsApi(this.transport);
    this.permissions = new PermissionsApi(this.transport);
    this.localization = new LocalizationApi(this.transport);
    this.config = new ConfigApi(this.transport);
    this.collections = new CollectionsApi(this.transport);
    this.worlds = new WorldsApi(this.transport);
    this.chat = new ChatApi(this.transport);
    this.deliveries = new DeliveriesApi(this.transport);
  }

  /** A client for the hub at `HUB_URL` with the key `HUB_KEY`, from the environment. */
  static fromEnvironment(): HubClient {
    const { HUB_URL: url, HUB_KEY: key } = process.env;
    if (url === undefined || key === undefined) throw new TypeError("set HUB_URL and HUB_KEY: the hub's address and an API key");
    return new HubClient({ url, apiKey: key });
  }

  /** The same client with other settings. */
  with(changes: Partial<Pick<HubClientOptions, "timeoutMs" | "retry">>): HubClient {
    return new HubClient({ ...this.options, ...changes });
  }

  /** The hub's build. */
  version(): Promise<BuildStamp> {
    return this.transport.send({ method: "GET", path: "/api/version" });
  }

  /** Any other call, such as one that is newer than this library, or one of an owner; the path is sent as it is. */
  call<T>(method: string, path: string, body?: unknown): Promise<T> {
    return this.transport.send({ method, path, body, repeat: method === "POST" ? "keyed" : "safe" });
  }

  /** An event stream that is not open yet. */
  events(options: EventStreamOptions, listener: EventStreamListener): EventStream {
    return new EventStream(this.transport, options, listener);
  }
}
