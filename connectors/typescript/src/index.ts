export { HubClient, type HubClientOptions } from "./client.js";
export { HubError, type ConnectorErrorCode, type HubErrorCode } from "./errors.js";
export { EventStream, type EventStreamListener, type EventStreamOptions } from "./event-stream.js";
export { DEFAULT_RETRIES, NO_RETRIES, type RetryPolicy } from "./retry.js";
export type { Logger } from "./logger.js";
export type { CollectionsApi, DocumentPage, ListOptions } from "./api/collections.js";
export type { DeliveriesApi } from "./api/deliveries.js";
export type { BalanceChange, EconomyApi } from "./api/economy.js";
export type { LocalizationApi } from "./api/localization.js";
export type { ChatApi, ConfigApi, MatchmakingApi, TransfersApi } from "./api/network.js";
export type { PermissionsApi, VersionedPermissions } from "./api/permissions.js";
export type { LoadInclude, PlayerData, PlayersApi } from "./api/players.js";
export type { PunishmentsApi } from "./api/punishments.js";
export type { ServersApi, ServerState } from "./api/servers.js";
export type { WorldsApi } from "./api/worlds.js";
export type { CachedConfig } from "./connector/cached-config.js";
export {
  HubConnector, type ConnectorOptions, type ConnectorStatus, type EventOf, type JoinDecision,
} from "./connector/connector.js";
export { DeliveryFailure, type DeliveryHandler } from "./connector/deliveries.js";
export type { GameServer } from "./connector/game-server.js";
export type { Place } from "./connector/lines.js";
export type { LocalizationCache, Messages } from "./connector/localization-cache.js";
export type { PermissionCache } from "./connector/permission-cache.js";
export type { EndReason, NamespacedData, PlayerDataHandler, PlayerDataStore } from "./connector/player-data.js";
export type { PunishmentCache } from "./connector/punishment-cache.js";
export { TransferVerifier } from "./connector/transfer-verifier.js";
export type * from "./generated/schemas.js";
