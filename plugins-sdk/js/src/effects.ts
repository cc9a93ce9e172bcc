/**
 * Requests of a handler to the hub: up to 64 effects a call, in the form that they have in test cases.
 *
 * An effect is a plain object, `{ modifyCurrency: { … } }`; with `optional: true` beside it the hub may refuse it and
 * applies the others all the same. The functions here make the common ones. They are applied in their order, in one
 * transaction with what the call wrote into `network-hub-module/state`: all or nothing.
 *
 * Each needs a scope among `scopes` in `module.toml`, which the module's owner grants. Amounts are units of the currency,
 * with up to four decimals. What is left out is "none".
 */

/** An object that can be written as JSON. */
export type JsonObject = object;

/** Adds to a balance. */
export interface Operation {
  /** `player` or another kind of owner. */
  ownerType: string;
  /** The owner: for players their UUID. */
  ownerKey: string;
  currency: string;
  /** Units; negative takes away. */
  amount: number;
}

/** A player by UUID, or else by name. */
export type PlayerUuidOrName =
  | { playerUuid: string; playerName?: string | null }
  | { playerUuid?: null; playerName: string };

/** Players to whom a message is shown: all, those on servers of a type, those on a server, or one. */
export type ChatTarget = "NETWORK" | { serverType: string } | { serverId: string } | { playerUuid: string };

/** The fields of each effect. */
export interface Effects {
  /** Adds to a balance. Scope `economy:write`. */
  modifyCurrency: Operation & {
    /** Shown in the ledger. */
    reason?: string | null;
    /** True: refused if the balance can't change by all of the amount. */
    exact?: boolean;
  };
  /** Adds to several balances, or to none. Scope `economy:write`. */
  transaction: { operations: Operation[]; reason?: string | null };
  /** Adds to a statistic. Scope `players:write` for players, else `economy:write`. */
  incrementStatistic: {
    ownerType: string;
    ownerKey: string;
    name: string;
    /** None: `global`. */
    gameMode?: string | null;
    amount: number;
  };
  /** Writes a player's data; refused as `session_open` while the player has a session. Scope `players:write`. */
  putPlayerData: {
    playerUuid: string;
    gameMode: string;
    namespace: string;
    data: string;
    /** The version it must have, as read. */
    version?: number | null;
  };
  /** Deletes a player's data; refused as `session_open` while the player has a session. Scope `players:write`. */
  deletePlayerData: { playerUuid: string; gameMode: string; namespace: string; version?: number | null };
  /** Writes a document of a collection. Scope `collections:write`. */
  putDocument: {
    collection: string;
    id: string;
    document: JsonObject;
    /** The document that must be there, as read, else refused as `document_changed`. */
    expected?: JsonObject | null;
  };
  /** Deletes a document of a collection. Scope `collections:write`. */
  deleteDocument: { collection: string; id: string; expected?: JsonObject | null };
  /** Sets a permission node of a player, one that the owner's patterns allow. Scope `permissions:write`. */
  putPermission: {
    playerUuid: string;
    node: string;
    /** True grants it, false denies it. */
    value: boolean;
    context?: string | null;
    world?: string | null;
    /** Milliseconds since 1970. */
    expiresAt?: number | null;
  };
  /** Removes a permission node of a player. Scope `permissions:write`. */
  removePermission: { playerUuid: string; node: string; context?: string | null; world?: string | null };
  /** Punishes a player. The modules at `punishment` are asked before. Scope `punishments:write`. */
  punish: PlayerUuidOrName & {
    type: "BAN" | "MUTE" | "WARN" | "KICK";
    /** None: permanent. */
    durationMs?: number | null;
    reason: string;
  };
  /** Revokes a punishment. Scope `punishments:write`. */
  revokePunishment: { id: number; reason?: string | null };
  /** Shows a message to players; refused as `player_offline` for a player who is. Scope `chat:send`. */
  sendChat: {
    target: ChatTarget;
    /** 1 to 1,024 characters without control characters. */
    text: string;
    /** Up to 64 characters. */
    prefix?: string | null;
  };
  /** Publishes an event `MODULE_EVENT`. */
  emit: {
    /** 1 to 64 of `A-Z a-z 0-9 . _ -`. */
    name: string;
    /** The key of its order, 1 to 128 characters; none: `network`. */
    key?: string | null;
    /** Up to 16 KiB. */
    payload: JsonObject;
  };
  /** Creates a delivery. Scope `deliveries:write`. */
  deliver: PlayerUuidOrName & {
    kind: string;
    /** Up to 16 KiB. */
    payload: JsonObject;
    serverType?: string | null;
    serverId?: string | null;
    /** Milliseconds since 1970. */
    notBefore?: number | null;
    expiresAt?: number | null;
    reference?: string | null;
    /** If its server vanished: `HOLD` (default) waits for the staff, `RETRY` carries it out again. */
    onLost?: "HOLD" | "RETRY" | null;
  };
  /** Runs a command on a server, one whose first word the owner allowed. At most once. Scope `servers:control`. */
  runCommand: { serverId: string; command: string; timeoutMs?: number | null };
  /** Sends a player to a server. At most once. Scope `matchmaking`. */
  transfer: { playerUuid: string; targetServerId: string; targetWorldId?: string | null };
  /** Calls one webhook of the network, with an event `MODULE_EVENT`. Scope `webhooks:call`. */
  callWebhook: { webhookId: string; name: string; payload: JsonObject };
  /** Sets a timer, replacing one of the same key. */
  setTimer: {
    /** 1 to 128 characters. `player:<uuid>` is deleted with its player. */
    key: string;
    /** Milliseconds since 1970: at least a second from now, at most 400 days. */
    at: number;
    /** Up to 4 KiB. */
    payload: JsonObject;
  };
  /** Cancels a timer; none of that key is fine. */
  cancelTimer: { key: string };
}

/** One change that the hub makes with the call's others, or not at all. */
export type Effect = {
  [Name in keyof Effects]: { [Only in Name]: Effects[Name] } & {
    /** True: the others are applied even if the hub refuses this one. */
    optional?: boolean;
  };
}[keyof Effects];

/** The effect, which the hub may refuse. */
export const optional = (effect: Effect): Effect => ({ ...effect, optional: true });

/** Adds to a player's balance; negative takes away. Scope `economy:write`. */
export const modifyCurrency = (playerUuid: string, currency: string, amount: number, reason?: string): Effect => ({
  modifyCurrency: { ownerType: "player", ownerKey: playerUuid, currency, amount, reason },
});

/** Adds to a player's statistic of the game mode `global`. Scope `players:write`. */
export const incrementStatistic = (playerUuid: string, name: string, amount = 1): Effect => ({
  incrementStatistic: { ownerType: "player", ownerKey: playerUuid, name, amount },
});

/** Shows a message to a player; refused if they are offline. Scope `chat:send`. */
export const tell = (playerUuid: string, text: string): Effect => ({ sendChat: { target: { playerUuid }, text } });

/** Shows a message to all players of the network. Scope `chat:send`. */
export const announce = (text: string): Effect => ({ sendChat: { target: "NETWORK", text } });

/** Publishes an event `MODULE_EVENT`, in order with others of its key. */
export const emit = (name: string, payload: JsonObject, key?: string): Effect => ({ emit: { name, key, payload } });

/** Sets a timer, replacing one of the same key. */
export const setTimer = (key: string, at: number, payload: JsonObject = {}): Effect => ({ setTimer: { key, at, payload } });
