import { setMaxListeners } from "node:events";
import type { LoadInclude } from "../api/players.js";
import type { ServerState } from "../api/servers.js";
import type { HubClient } from "../client.js";
import { describe, HubError } from "../errors.js";
import type { EventStream } from "../event-stream.js";
import type {
  Delivery, LoadedPlayer, OpenedWorld, Punishment, PunishmentChange, ServerEvent, ServerRegistration, Ticket, TicketMatched,
  TicketRequest, TransferOutcome, WorldRequest,
} from "../generated/schemas.js";
import type { Logger } from "../logger.js";
import { sleep } from "../retry.js";
import { CachedConfig } from "./cached-config.js";
import { askForTransfer, carryOutTransfer, runConsoleCommand, type CommandContext } from "./commands.js";
import { Deliveries, type DeliveryHandler } from "./deliveries.js";
import type { GameServer } from "./game-server.js";
import { WaitingLines, type Place } from "./lines.js";
import { LocalizationCache, type Messages } from "./localization-cache.js";
import { change } from "./outbox.js";
import { PermissionCache } from "./permission-cache.js";
import { PlayerDataStore, type PlayerDataHandler } from "./player-data.js";
import { playerId } from "./player-id.js";
import { PunishmentCache } from "./punishment-cache.js";
import { RefreshQueue } from "./refresh-queue.js";
import { Session } from "./session.js";
import { HubClock, now, persist } from "./time.js";
import { TransferVerifier } from "./transfer-verifier.js";
import { WorldOpener } from "./world-opener.js";

/** The settings of a connector. All but the first two have defaults that fit most servers. */
export interface ConnectorOptions {
  /** Registration of the server. */
  readonly server: ServerRegistration;
  /** Requests of the connector to the game. */
  readonly game: GameServer;
  /** The plugin's own messages, which are registered under the first namespace and used until the network has others. */
  readonly messages?: Messages;
  /** The namespaces to read messages from, the plugin's own first. */
  readonly namespaces?: readonly string[];
  /** The language of last resort; `en` unless set. */
  readonly defaultLocale?: string;
  /** Context of this server's permissions, such as `server=lobby`; by default only permissions without a context apply. */
  readonly permissionContext?: string;
  /** Game mode whose data a join loads; `global` by default. */
  readonly gameMode?: string;
  /** The engine of players who join: `MINECRAFT` or `HYTALE`. */
  readonly gameType?: string;
  /** More that a join loads besides permissions, punishments and language. */
  readonly load?: readonly LoadInclude[];
  /** Reads and writes players in the game, so that their data moves with them (`HubConnector.playerData`). */
  readonly playerData?: PlayerDataHandler;
  /** While the hub is away, lets players join of whom nothing current is known: bans fail open. Unset, they fail closed. */
  readonly allowUnverified?: boolean;
  /** For how long into an outage players may come back who were checked before it and had no ban; 10 minutes unless set. */
  readonly trustCleanMs?: number;
  /** Maximum wait of a join for the hub; 4 s by default. */
  readonly joinTimeoutMs?: number;
  /** Log of the connector; `console` by default. */
  readonly log?: Logger;
}

/** Decision whether a player may join. */
export type JoinDecision =
  /** The profile is undefined where the hub is away. */
  | { readonly allowed: true; readonly profile: LoadedPlayer | undefined }
  | { readonly allowed: false; readonly reason: "BANNED"; readonly ban: Punishment }
  /** The hub is away, and nothing current is known of the player. */
  | { readonly allowed: false; readonly reason: "NOT_VERIFIED" };

/** State of a connector. */
export interface ConnectorStatus {
  /** True if the server is registered and its event stream is open. */
  readonly connected: boolean;
  /** True if the server is registered. */
  readonly registered: boolean;
  /** True if the event stream is open. */
  readonly streamOpen: boolean;
  /** Joins, leaves and changes of worlds that the hub has not confirmed. */
  readonly pendingChanges: number;
  /** Last error as a sentence. */
  readonly lastError: string | undefined;
}

/** The event of a type. */
export type EventOf<Type extends ServerEvent["type"]> = Extract<ServerEvent, { type: Type }>;

const TICK_MS = 5_000;
/** Time for the last saves of players, and for deliveries, when the server stops. */
const SAVE_PATIENCE_MS = 5_000;
const SESSION_EVENTS = ["SESSION_REQUESTED", "SESSION_ENDED"];
const OWN_EVENTS = [
  "CHAT", "PUNISHMENT", "TRANSFER", "EXECUTE_COMMAND", "LOCALIZATION_UPDATED", "CONFIG_UPDATED", "WORLD_READY", "WORLD_OPEN",
  "WORLD_SNAPSHOT", "WORLD_UNLOAD", "SIGNING_SECRET_ROTATED", "PERMISSIONS_UPDATED", "TICKET_MATCHED", "TICKET_UPDATED",
];

/**
 * Connects a game server or proxy with its hub: registers it, keeps it online, reports its players, listens to the event stream, and
 * keeps in memory what the game asks for all the time. One for each server, for as long as it runs.
 *
 * While the hub is away the connector keeps trying, with growing and random delays. Joins, leaves and changes of worlds wait in
 * memory, in order, until the hub has confirmed them. The event stream resumes where it ended; where that is not possible
 * everything that is kept is read again. Bans and mutes stay in force; permissions, messages and config stay as they were.
 *
 * Promises are rejected with a `HubError`. Times are milliseconds since the Unix epoch.
 */
export class HubConnector {
  private readonly clock = new HubClock();
  /** The punishments that are known. */
  readonly punishments = new PunishmentCache(this.clock);
  /** Permissions of players. */
  readonly permissions: PermissionCache;
  /** Messages and languages. */
  readonly localization: LocalizationCache;
  /** Verifies commands that another server has handed to this one. */
  readonly transferVerifier = new TransferVerifier();
  private readonly log: Logger;
  private readonly online = new Set<string>();
  private readonly listeners = new Map<string, ((event: never) => void)[]>();
  private readonly configs: CachedConfig<unknown>[] = [];
  private readonly stopping = new AbortController();
  private readonly session: Session;
  private readonly stream: EventStream;
  private readonly commands: CommandContext;
  private readonly worlds: WorldOpener;
  /** Data of players that moves with them. */
  readonly playerData: PlayerDataStore;
  private readonly deliveries: Deliveries;
  private readonly lines: WaitingLines;
  private readonly refresh: Record<"punishments" | "permissions" | "language", RefreshQueue>;
  private ticker: NodeJS.Timeout | undefined;
  private isStopping = false;
  private wasOpen = false;
  private streamOpen = false;
  private streamLostAt = now();
  private streamError: HubError | undefined;

  constructor(
    /** For calls that the connector does not make itself. */
    readonly client: HubClient,
    private readonly options: ConnectorOptions,
  ) {
    const { game, server } = options;
    const stopped = this.stopping.signal;
    setMaxListeners(0, stopped); // Any number of calls may wait for the hub.
    const log = (this.log = options.log ?? console);
    this.session = new Session(client, server, {}, log, () => this.transferVerifier.registering(), (answer) => {
      this.transferVerifier.setSecret(answer.signingSecret, this.clock.now());
      log.info(`Registered with the hub as ${answer.serverId}`);
    });
    this.stream = client.events({ serverId: server.serverId, types: OWN_EVENTS, log }, {
      onOpen: () => this.opened(),
      onDisconnected: (why) => this.disconnected(why),
      onEvent: (event) => this.received(event),
    });
    this.permissions = new PermissionCache(client, options.permissionContext);
    const { namespaces = [], messages = {}, defaultLocale = "en" } = options;
    this.localization = new LocalizationCache(client, namespaces, messages, defaultLocale);
    this.worlds = new WorldOpener(client, stopped);
    this.refresh = {
      punishments: new RefreshQueue((player) => this.readPunishments(player), stopped, log),
      permissions: new RefreshQueue((player) => this.permissions.refresh(player), stopped, log),
      language: new RefreshQueue((player) => this.localization.refreshLanguage(player), stopped, log),
    };
    const { gameMode, gameType } = options;
    const { serverId } = server;
    const isHere = (player: string) => this.online.has(player);
    this.playerData = new PlayerDataStore({ client, serverId, gameMode, gameType, log }, options.playerData);
    this.deliveries = new Deliveries({ client, serverId, data: this.playerData, log, stopped, isHere });
    this.lines = new WaitingLines({ client, serverId, isProxy: server.role === "PROXY", log, stopped, isHere });
    this.commands = {
      client, game, log, stopped, clock: this.clock, verifier: this.transferVerifier,
      isHere,
      hasPendingChanges: (player) => this.session.hasPendingChanges(player),
    };
  }

  /** Begins to connect. Once. */
  start(): void {
    const sessions = this.playerData.isEnabled ? SESSION_EVENTS : [];
    const deliveries = this.deliveries.isUsed ? ["DELIVERY_READY"] : [];
    this.stream.setTypes(new Set([...OWN_EVENTS, ...sessions, ...deliveries, ...this.listeners.keys()]));
    this.playerData.start();
    void this.deliveries.run();
    this.session.start();
    this.stream.open();
    if (this.options.messages !== undefined) this.keepTrying("messages", () => this.localization.registerDefaults());
    this.ticker = setInterval(() => this.tick(), TICK_MS);
  }

  /** Begins to connect, and waits until the hub hears the server and the server hears the hub. */
  async connect(): Promise<void> {
    this.start();
    while (!this.status().connected && !this.stopping.signal.aborted) await sleep(25, this.stopping.signal);
  }

  /**
   * Saves players and ends deliveries, for up to five seconds, and tells the hub what is still waiting, for up to three. Then takes the
   * server offline and ends the connector.
   */
  async stop(): Promise<void> {
    if (this.isStopping) return;
    this.isStopping = true;
    this.deliveries.stop();
    // A server that is offline has no sessions.
    const until = now() + SAVE_PATIENCE_MS;
    await this.playerData.finish(SAVE_PATIENCE_MS);
    await this.deliveries.finish(until - now());
    this.stream.close();
    clearInterval(this.ticker);
    this.stopping.abort();
    await this.session.stop(3_000);
  }

  /** Returns the connector's state. */
  status(): ConnectorStatus {
    const error = this.session.lastError ?? (this.streamOpen ? undefined : this.streamError);
    const registered = this.session.isRegistered && !this.session.isAway;
    return {
      connected: registered && this.streamOpen && error === undefined,
      registered,
      streamOpen: this.streamOpen,
      pendingChanges: this.session.pendingChanges,
      lastError: error?.message,
    };
  }

  /**
   * Asks whether a player may join, and loads them; call it before they do. Answers within `joinTimeoutMs`, also while the hub is
   * away: then from what is known, and a player of whom nothing current is known is refused, unless `allowUnverified` was set.
   * Never rejected.
   *
   * @param ip the player's address, so that bans of addresses match
   */
  async checkJoin(uuid: string, name: string, ip?: string): Promise<JoinDecision> {
    const player = playerId(uuid);
    if (ip !== undefined) {
      const address = { playerUuid: player, playerName: name, ipAddress: ip };
      this.keepTrying("a player's address", () => this.client.punishments.recordIp(address), 60_000);
    }
    const asked = new AbortController();
    const timeout = async (): Promise<never> => {
      await sleep(this.options.joinTimeoutMs ?? 4_000, asked.signal);
      throw new HubError("unreachable", "The hub did not answer in time.");
    };
    const loaded = this.loadAndCheck(player, name, ip);
    return Promise.race([loaded, timeout()])
      .catch((failure: unknown) => {
        this.log.info(`Player ${player} is checked without the hub: ${describe(failure)}`);
        return this.decideFromCache(player, name, ip);
      })
      .finally(() => asked.abort());
  }

  private async loadAndCheck(player: string, name: string, ip: string | undefined): Promise<JoinDecision> {
    const { gameMode, gameType, load = [], permissionContext } = this.options;
    const askedAt = now();
    const profile = await this.client.players.load(player, {
      username: name,
      ...(gameMode === undefined ? {} : { gameMode }),
      ...(gameType === undefined ? {} : { gameType }),
      ...(ip === undefined ? {} : { ip }),
      include: ["permissions", "punishments", "language", ...load],
    });
    if (profile.language !== undefined) this.localization.put(player, profile.language, askedAt);
    // A load has no context; permissions of one are read separately.
    if (profile.permissions !== undefined && permissionContext === undefined) {
      this.permissions.put(player, profile.permissions, undefined, askedAt);
    } else {
      await this.permissions.refresh(player);
    }
    this.punishments.checked(player, name, ip, profile.punishments ?? [], askedAt);
    const ban = this.punishments.ban(player);
    return ban === undefined ? { allowed: true, profile } : { allowed: false, reason: "BANNED", ban };
  }

  private decideFromCache(player: string, name: string, ip: string | undefined): JoinDecision {
    const ban = this.punishments.find(player, name, ip, "BAN");
    if (ban !== undefined) return { allowed: false, reason: "BANNED", ban };
    const isRecent = this.streamOpen || now() - this.streamLostAt < (this.options.trustCleanMs ?? 600_000);
    const isKnown = isRecent && this.punishments.isCurrent(player, ip);
    if (isKnown || this.options.allowUnverified === true) return { allowed: true, profile: undefined };
    return { allowed: false, reason: "NOT_VERIFIED" };
  }

  /** A player is on this server now. Tell of everybody who is online already when the connector starts, too. */
  playerJoined(uuid: string, name: string): void {
    const player = playerId(uuid);
    this.online.add(player);
    this.playerData.joined(player, name);
    this.session.add(change(player, { kind: "JOIN", name } as const));
    // Something may have changed since they were checked, if they were.
    if (!this.punishments.isCurrent(player)) this.refresh.punishments.add(player);
    if (this.permissions.mayBeStale(player)) this.refresh.permissions.add(player);
    if (this.localization.language(player) === undefined) this.refresh.language.add(player);
    const ban = this.punishments.ban(player);
    if (ban !== undefined) this.kick(player, ban);
  }

  /** A player went to another world of this server. */
  playerChangedWorld(uuid: string, world: string, previousWorld?: string): void {
    this.session.add(change(playerId(uuid), { kind: "WORLD", world, previousWorld } as const));
  }

  /** A player is no longer on this server. Their data is captured at once, so call it while the game still has them. */
  playerLeft(uuid: string): void {
    const player = playerId(uuid);
    this.playerData.leave(player);
    this.lines.left(player);
    this.online.delete(player);
    this.session.add(change(player, { kind: "LEAVE" } as const));
  }

  /** The game's state or the worlds have changed; the hub learns it at once. */
  setState(state: ServerState): void {
    this.session.setState(state);
  }

  /**
   * Sends a player to another server, wherever they are. While the hub is away, or the player's server is reconnecting, it is tried for
   * 30 seconds. The outcome says whether the command is on its way; a reason why it cannot be is an outcome, too.
   */
  async transfer(uuid: string, targetServerId: string, worldId?: string): Promise<TransferOutcome> {
    return askForTransfer(this.commands, playerId(uuid), targetServerId, worldId, 30_000);
  }

  /**
   * Carries out deliveries of a kind: claims each, calls the handler, and completes it. A handler that throws is called again later, up to
   * five attempts; `DeliveryFailure` says otherwise. Where the server ends between the claim and its completion, the hub holds the
   * delivery or offers it again, as its `onLost` says. Call it before `start`.
   */
  onDelivery(kind: string, handler: DeliveryHandler): void {
    this.deliveries.add(kind, handler, false);
  }

  /**
   * The same for deliveries whose effect is part of the player's data, such as items. Called while the player's session is open; the
   * player is captured right after, and that save completes the delivery: both happen or neither.
   */
  onDataDelivery(kind: string, handler: (delivery: Delivery) => void): void {
    this.deliveries.add(kind, handler, true);
  }

  /**
   * Takes a ticket for a server or world that may be full, and sends the player there when their turn has come. The same request again
   * keeps ticket and place. A ticket that cannot be had is EXPIRED, with the reason in `match`.
   */
  async waitInLine(request: TicketRequest): Promise<Ticket> {
    return this.lines.wait({ ...request, playerUuid: playerId(request.playerUuid) });
  }

  /** Ends a player's ticket; whether they had one. */
  async leaveLine(uuid: string): Promise<boolean> {
    return this.lines.leave(playerId(uuid));
  }

  /** A player's place in their line; undefined if they do not wait. */
  place(uuid: string): Place | undefined {
    return this.lines.place(playerId(uuid));
  }

  /** Calls this with each new place of a player of this server: tell the player. */
  onPlace(listener: (place: Place) => void): void {
    this.lines.onPlace(listener);
  }

  /** Calls this when slots are held for a player of this server, who is being sent there. A proxy hears of all. */
  onMatch(listener: (ticket: TicketMatched) => void): void {
    this.lines.onMatch(listener);
  }

  /** Opens a world and waits until it is up, for up to a minute; fails with `world_timeout`. */
  async openWorld(request: WorldRequest): Promise<OpenedWorld> {
    return this.worlds.open(request, 60_000);
  }

  /**
   * Sends a line to the whole network; it comes back to `showChat`. Fails with `muted` for a player who may not chat, and with
   * `chat_rejected` where a filter refuses it. Chat is not kept for later.
   */
  async sendChat(uuid: string, playerName: string, message: string): Promise<void> {
    const playerUuid = playerId(uuid);
    if (this.punishments.isMuted(playerUuid)) throw new HubError("muted", "The player is muted.");
    const { serverId, serverType } = this.options.server;
    await this.client.chat.send({ playerUuid, playerName, message, serverId, serverType });
  }

  /** A config document that is kept current; the default is stored where the network has none. */
  config<T>(group: string, namespace: string, defaultDoc: T): CachedConfig<T> {
    const config = new CachedConfig(this.client, this.log, group, namespace, defaultDoc);
    this.configs.push(config as unknown as CachedConfig<unknown>);
    this.keepTrying("a config document", () => config.refresh());
    return config;
  }

  /** The time by the hub's clock, as its pings show. */
  hubTime(): number {
    return this.clock.now();
  }

  /**
   * Calls this with every event of a type; RESYNC says that events may have been missed. Types beyond those that the connector needs,
   * such as PLAYER_JOINED, have to be named before `start`.
   */
  on<Type extends ServerEvent["type"]>(type: Type, listener: (event: EventOf<Type>) => void): void {
    this.listeners.set(type, [...(this.listeners.get(type) ?? []), listener as (event: never) => void]);
  }

  private keepTrying(what: string, call: () => Promise<void>, patienceMs = Infinity): void {
    persist(call, patienceMs, this.stopping.signal).catch((error: unknown) => {
      if (!this.stopping.signal.aborted) this.log.warn(`The hub refused a call about ${what}: ${describe(error)}`);
    });
  }

  /** Calls the game, which may fail at once or later. */
  private tell(what: string, call: () => void | Promise<void>): void {
    const called = (async () => call())();
    called.catch((error: unknown) => this.log.warn(`${what} failed: ${describe(error)}`));
  }

  private async readPunishments(player: string): Promise<void> {
    const askedAt = now();
    const { name, ip } = this.punishments.lastCheck(player);
    const found = await this.client.punishments.query({ playerUuid: player, ...(ip === undefined ? {} : { ip }) });
    const last = this.punishments.lastCheck(player);
    if (last.name !== name || last.ip !== ip) {
      // They came from another address meanwhile, whose bans are not in the answer.
      this.refresh.punishments.add(player);
      return;
    }
    this.punishments.checked(player, name, ip, found, askedAt);
    const ban = this.punishments.ban(player);
    if (ban !== undefined) this.kick(player, ban);
  }

  private kick(player: string, reason: Punishment): void {
    if (this.online.has(player)) this.tell("Kicking a player", () => this.options.game.kickPlayer(player, reason));
  }

  /** Refreshes expired permissions, which no event announces. */
  private tick(): void {
    for (const player of this.online) {
      if (this.permissions.hasExpired(player, this.clock.now())) this.refresh.permissions.add(player);
    }
    this.permissions.prune(this.online);
    this.localization.prune(this.online);
  }

  /** Reads all cached state again. */
  private readAll(): void {
    this.punishments.gap();
    for (const queue of Object.values(this.refresh)) queue.addAll(this.online);
    this.keepTrying("messages", () => this.localization.refreshCatalog());
    for (const config of this.configs) this.keepTrying("a config document", () => config.refresh());
    this.worlds.resync();
    this.lines.resync();
    this.deliveries.look();
  }

  private opened(): void {
    this.streamOpen = true;
    this.streamError = undefined;
    // State that was read before the first stream may have changed before it began.
    if (!this.wasOpen) this.readAll();
    else this.deliveries.look();
    this.wasOpen = true;
  }

  private disconnected(why: HubError): void {
    if (this.streamOpen) this.streamLostAt = now();
    this.streamOpen = false;
    this.streamError = why;
    this.log.info(`The event stream ended and will be opened again: ${why.message}`);
  }

  private received(event: ServerEvent): void {
    this.handle(event);
    for (const listener of this.listeners.get(event.type) ?? []) {
      this.tell(`A listener of ${event.type}`, () => listener(event as never));
    }
  }

  private handle(event: ServerEvent): void {
    const { game } = this.options;
    switch (event.type) {
      case "PING":
        return this.clock.ping(event.at);
      case "RESYNC":
        this.log.info("Events may have been missed; reading everything anew");
        this.session.registerAgain();
        return this.readAll();
      case "CHAT":
        return this.tell("Showing a line of chat", () => game.showChat(event));
      case "PUNISHMENT":
        return this.punished(event);
      case "TRANSFER":
        return this.tell("A transfer", () => carryOutTransfer(this.commands, event));
      case "SIGNING_SECRET_ROTATED":
        return this.transferVerifier.rotate(event.signingSecret, event.validUntil);
      case "EXECUTE_COMMAND":
        return this.tell("A console command", () => runConsoleCommand(this.commands, event));
      case "LOCALIZATION_UPDATED":
        return this.keepTrying("messages", () => this.localization.refreshCatalog());
      case "CONFIG_UPDATED":
        for (const config of this.configs) {
          const isMeant = config.group === event.group && config.namespace === event.namespace;
          if (isMeant) this.keepTrying("a config document", () => config.refresh());
        }
        return;
      case "PERMISSIONS_UPDATED":
        this.permissions.changed();
        for (const player of this.online) {
          const isMeant = event.playerUuid === undefined || event.playerUuid === player;
          if (isMeant && this.permissions.isBefore(player, event.revision)) this.refresh.permissions.add(player);
        }
        return;
      case "WORLD_READY":
        return this.worlds.ready(event);
      case "SESSION_REQUESTED":
        return this.playerData.requested(event.playerUuid, event.fence);
      case "SESSION_ENDED":
        return this.playerData.sessionEnded(event.playerUuid, event.fence);
      case "DELIVERY_READY":
        return this.deliveries.ready(event.deliveryId, event.playerUuid, event.kind);
      case "TICKET_UPDATED":
        return this.lines.updated(event);
      case "TICKET_MATCHED":
        return this.lines.matched(event);
      default: // For listeners.
    }
  }

  private punished({ action, punishment }: PunishmentChange): void {
    // UPDATED: staff changed it, and it may be in force still.
    this.punishments.update(punishment, (action === "CREATED" || action === "UPDATED") && punishment.active);
    if (action !== "CREATED" || (punishment.type !== "BAN" && punishment.type !== "KICK")) return;
    for (const player of this.online) {
      if (this.punishments.concerns(punishment, player)) this.kick(player, punishment);
    }
  }
}
