// Deliveries and waiting lines, against real hubs.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, test } from "node:test";
import { DeliveryFailure, type Delivery, type DeliveryRequest, type HubClient, type Place } from "network-hub-connector";
import { eventually } from "./support/eventually.js";
import { Hub } from "./support/hub.js";
import { GameServerWithData, sessionIs, stored } from "./support/server.js";

let hub: Hub;
let owner: HubClient;
let player: string;
let servers: GameServerWithData[];

beforeEach(async () => {
  hub = await Hub.start();
  owner = hub.client();
  player = randomUUID();
  servers = [];
});

afterEach(async () => {
  await Promise.all(servers.map(({ connector }) => connector.stop()));
  await hub.close();
});

async function start(prepare?: (server: GameServerWithData) => void): Promise<GameServerWithData> {
  const server = await GameServerWithData.start(hub, prepare);
  servers.push(server);
  return server;
}

/** What a shop does. */
async function buy(kind: string, more: Partial<DeliveryRequest> = {}): Promise<number> {
  return (await owner.deliveries.create({ playerUuid: player, kind, ...more })).deliveryId;
}

async function ended(deliveryId: number, state: string): Promise<void> {
  const path = `/api/manage/deliveries?playerUuid=${player}&limit=200`;
  // A claim whose answer was lost with the hub runs out after a minute.
  const isIn = async () => {
    const { items } = await owner.call<{ items: Delivery[] }>("GET", path);
    return items.some((item) => item.deliveryId === deliveryId && item.state === state);
  };
  await eventually(`the delivery is ${state}`, isIn, 150);
}

test("a purchase arrives once", async () => {
  const ran: Delivery[] = [];
  const a = await start(({ connector }) => connector.onDelivery("rank", (delivery) => void ran.push(delivery)));
  const before = await buy("rank", { reference: "order-1", payload: { rank: "vip" } });
  assert.equal(await buy("rank", { reference: "order-1", payload: { rank: "vip" } }), before);
  await buy("unknown");
  a.connector.playerJoined(player, "Ann");
  await ended(before, "DELIVERED");
  const online = await buy("rank", { reference: "order-2" });
  await ended(online, "DELIVERED");
  assert.deepEqual(ran.map(({ deliveryId, attempts }) => [deliveryId, attempts]), [[before, 1], [online, 1]]);
  assert.deepEqual(ran[0]?.payload, { rank: "vip" });
});

test("a handler that throws is called again or not", async () => {
  const attempts: number[] = [];
  const a = await start(({ connector }) => {
    connector.onDelivery("flaky", async (delivery) => {
      attempts.push(delivery.attempts);
      if (delivery.attempts < 3) throw new Error("the inventory is full");
    });
    connector.onDelivery("impossible", () => {
      throw new DeliveryFailure("no such kit");
    });
  });
  a.connector.playerJoined(player, "Ann");
  const [flaky, impossible] = [await buy("flaky"), await buy("impossible")];
  await ended(impossible, "FAILED");
  await ended(flaky, "DELIVERED");
  assert.deepEqual(attempts, [1, 2, 3]);
});

test("items and the ends of their deliveries are saved together", async () => {
  const prepare = ({ connector, inventories }: GameServerWithData) =>
    connector.onDataDelivery("kit", (delivery) => inventories.give(delivery.playerUuid ?? "", "kit"));
  let [here, there] = [await start(prepare), await start(prepare)];
  const orders: number[] = [];
  for (let at = 0; at < 20; at += 1) orders.push(await buy("kit", { reference: `order-${at}`, onLost: "RETRY" }));
  await here.join(player);
  for (let step = 0; step < 6; step += 1) {
    // In the middle of them the player moves, and the hub dies.
    await new Promise((resolve) => setTimeout(resolve, 50));
    if (step % 3 === 1) await hub.kill();
    here.leave(player);
    if (step % 3 === 1) await hub.start();
    await there.join(player);
    [here, there] = [there, here];
  }
  for (const order of orders) await ended(order, "DELIVERED");
  here.leave(player);
  await sessionIs(owner, player, "CLOSED");
  assert.deepEqual(await stored(owner, player), { kit: 20 });
});

test("an item that is saved after its claim is over is given once", async () => {
  let given = 0;
  const a = await start(({ connector, inventories }) =>
    connector.onDataDelivery("kit", () => {
      given += 1;
      inventories.give(player, "kit");
    }));
  await a.join(player);
  let save = () => {};
  const maySave = new Promise<void>((resolve) => (save = resolve));
  Object.assign(a.connector.playerData, { reached: (call: () => Promise<unknown>) => maySave.then(call) });
  const delivery = await buy("kit", { onLost: "RETRY" });
  await eventually("the item is there", () => given === 1);
  // The claim ends before the save, as when the hub was away for a minute.
  const [claim] = a.connector["deliveries"]["saving"].keys();
  await owner.deliveries.fail(delivery, claim!, "too late", true);
  save();
  await ended(delivery, "DELIVERED");
  assert.equal(given, 1);
  assert.deepEqual(await stored(owner, player), { kit: 1 });
});

test("an effect that cannot be saved is left to a person", async () => {
  const ran: string[] = [];
  const a = await start(({ connector, inventories }) => {
    connector.onDataDelivery("refused", ({ kind }) => {
      ran.push(kind);
      inventories.give(player, "kit");
      // More than a namespace may hold.
      connector.playerData.put(player, "notes", "x".repeat(300_000));
    });
    connector.onDataDelivery("uncaptured", ({ kind }) => {
      ran.push(kind);
      inventories.held.delete(player);
    });
  });
  await a.join(player);
  for (const kind of ["refused", "uncaptured"]) await ended(await buy(kind, { onLost: "RETRY" }), "FAILED");
  assert.deepEqual(ran, ["refused", "uncaptured"]);
});

test("a stopping server finishes what it began and begins nothing", async () => {
  const late: Delivery[] = [];
  let end = () => {};
  const mayEnd = new Promise<void>((resolve) => (end = resolve));
  let hasBegun = false;
  const a = await start(({ connector }) => {
    connector.onDelivery("slow", () => {
      hasBegun = true;
      return mayEnd;
    });
    connector.onDelivery("late", (delivery) => void late.push(delivery));
  });
  await a.join(player);
  const slowId = await buy("slow");
  await eventually("it is being carried out", () => hasBegun);
  const stopped = a.connector.stop();
  await sessionIs(owner, player, "CLOSED");
  const lateId = await buy("late");
  end();
  await stopped;
  await ended(slowId, "DELIVERED");
  await ended(lateId, "PENDING");
  assert.deepEqual(late, []);
});

test("players wait in line and are sent when there is room", async () => {
  const places: Place[] = [];
  const lobby = await start(({ connector }) => connector.onPlace((place) => void places.push(place)));
  const arena = { serverId: "arena", serverType: "arena", host: "10.0.0.9", port: 1, maxPlayers: 1 };
  const [early, second] = [randomUUID(), randomUUID()];
  await owner.servers.register(arena);
  await owner.servers.join("arena", early, "Early");
  for (const each of [player, second]) {
    lobby.connector.playerJoined(each, "Ann");
    await eventually("the player is there", async () => (await owner.players.get(each))?.online === true);
  }
  const request = { playerUuid: player, serverType: "arena" };
  const ticket = await lobby.connector.waitInLine(request);
  assert.deepEqual([ticket.state, ticket.position, ticket.line], ["WAITING", 1, "type:arena"]);
  await lobby.connector.waitInLine({ ...request, playerUuid: second });
  assert.equal((await lobby.connector.waitInLine(request)).ticketId, ticket.ticketId);
  assert.equal(lobby.connector.place(second)?.position, 2);

  await owner.servers.leave("arena", early);
  const sent = () => lobby.game.transfers.map((command) => command.playerUuid);
  await eventually("the first is sent", () => sent().length === 1);
  assert.deepEqual(sent(), [player]);
  assert.equal(lobby.connector.place(player), undefined);
  await owner.servers.join("arena", player, "Ann");
  lobby.connector.playerLeft(player);
  await eventually("the second moves up", () => places.at(-1)?.playerUuid === second && places.at(-1)?.position === 1);

  assert.ok(await lobby.connector.leaveLine(second));
  assert.ok(!(await lobby.connector.leaveLine(second)));
  assert.equal(lobby.connector.place(second), undefined);
});
