
// Each effect, for another event.
import { emit, setTimer } from "network-hub-module/effects";
import { Retry } from "network-hub-module/events";
import { onlinePlayers } from "network-hub-module/players";
import * as store from "network-hub-module/store";

/** @type {(now: number, count: number) => import("network-hub-module/effects").Effect[]} */
const every = (now, count) => [
  { modifyCurrency: { ownerType: "player", ownerKey: "p", currency: "coins", amount: -count, reason: "fee", exact: true } },
  { modifyCurrency: { ownerType: "farm", ownerKey: "f", currency: "coins", amount: 0.1 + 0.2 } },
  {
    transaction: {
      operations: [
        { ownerType: "player", ownerKey: "p", currency: "coins", amount: -10 },
        { ownerType: "farm", ownerKey: "f", currency: "coins", amount: 10 },
      ],
      reason: "rent",
    },
  },
  { incrementStatistic: { ownerType: "player", ownerKey: "p", name: "votes", gameMode: "bedwars", amount: 1.5 } },
  { putPlayerData: { playerUuid: "p", gameMode: "global", namespace: "quests", data: "{}", version: 3 } },
  { deletePlayerData: { playerUuid: "p", gameMode: "global", namespace: "quests" } },
  { putDocument: { collection: "friends", id: "p", document: { friends: ['Jürgen "J"'] }, expected: { friends: [] } } },
  { deleteDocument: { collection: "friends", id: "p" } },
  {
    putPermission: {
      playerUuid: "p", node: "rank.vip", value: true, context: "lobby", world: "nether", expiresAt: 1797000000000,
    },
  },
  { removePermission: { playerUuid: "p", node: "rank.vip" } },
  { punish: { playerName: "Notch", type: "MUTE", durationMs: 600_000, reason: "flood" } },
  { revokePunishment: { id: 91, reason: "appeal" } },
  { sendChat: { target: "NETWORK", text: "all", prefix: "[Vote]" } },
  { sendChat: { target: { serverType: "lobby" }, text: "type" } },
  { sendChat: { target: { serverId: "lobby-1" }, text: "server" } },
  { sendChat: { target: { playerUuid: "p" }, text: "player" }, optional: true },
  emit("every", { count }, "p"),
  {
    deliver: {
      playerUuid: "p", kind: "kit", payload: { kit: "starter" }, serverType: "survival", notBefore: now + 60_000,
      expiresAt: 1800000000000, reference: "tebex-8812", onLost: "RETRY",
    },
  },
  { deliver: { playerName: "Notch", kind: "kit", payload: {} } },
  { runCommand: { serverId: "lobby-1", command: "say hello", timeoutMs: 5000 }, optional: true },
  { transfer: { playerUuid: "p", targetServerId: "lobby-1", targetWorldId: "w" } },
  { callWebhook: { webhookId: "wh_3", name: "purchase", payload: { id: "8812" } } },
  setTimer("player:p", now + 60_000, { step: 2 }),
  { cancelTimer: { key: "player:p" } },
];

const first = events.handle;
events.handle = (context, event) => {
  if (event.type === "SERVER_ONLINE") throw new Retry("later");
  if (event.type === "SERVER_OFFLINE") store.get("handlers have none");
  if (event.type !== "MODULE_EVENT") return first(context, event);
  const [one, none] = state.getMany(["a:1", "b"]);
  const [entry] = state.list("a:", { after: "a:1", limit: 1 });
  state.increment("count", 2, 60_000);
  state.remove("old");
  state.set("read", `${one},${none ?? "-"},${entry?.key}=${entry?.value},${onlinePlayers().join("")}`);
  return every(context.nowMs, /** @type {number} */ (event.data["count"]));
};
