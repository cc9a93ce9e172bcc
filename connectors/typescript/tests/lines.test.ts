// Places in lines, by the answers of a hub that does as it is told.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import type { HubClient } from "../src/client.js";
import { WaitingLines } from "../src/connector/lines.js";
import { HubError } from "../src/errors.js";
import type { TicketMatched } from "../src/generated/schemas.js";
import { quiet } from "./support/game.js";

const ANN = randomUUID();
const BEN = randomUUID();

/** Answers those who wait, or refuses them. */
class Tickets {
  refuses = false;
  readonly ended: string[] = [];
  /** The next ticket, and what happens before its answer arrives. */
  ticketId: string = randomUUID();
  meanwhile = (): void => {};

  async joinLine() {
    const ticketId = this.ticketId;
    this.ticketId = randomUUID();
    await Promise.resolve();
    this.meanwhile();
    return { line: "type:arena", position: 2, state: "WAITING", ticketId, waiting: 2, etaMs: null, match: null };
  }

  async leaveLine(ticketId: string): Promise<boolean> {
    if (this.refuses) throw new HubError("forbidden", "The key may not.", { status: 403 });
    this.ended.push(ticketId);
    return true;
  }
}

function linesOf(tickets: Tickets, isProxy = false): WaitingLines {
  const client = { matchmaking: tickets } as unknown as HubClient;
  const stopped = new AbortController().signal;
  return new WaitingLines({ client, serverId: "lobby", isProxy, log: quiet, stopped, isHere: () => true });
}

function matched(playerUuid: string): TicketMatched {
  const match = { result: "SUCCESS", success: true, warm: false, transferId: randomUUID(), matchedServer: { serverId: "arena" } };
  return { ticketId: randomUUID(), playerUuid, party: [], match } as unknown as TicketMatched;
}

test("a place stays until the hub has ended the ticket", async () => {
  const tickets = new Tickets();
  const lines = linesOf(tickets);
  const { ticketId } = await lines.wait({ playerUuid: ANN, serverType: "arena" });
  tickets.refuses = true;
  await assert.rejects(lines.leave(ANN), { code: "forbidden" });
  assert.equal(lines.place(ANN)?.ticketId, ticketId);
  tickets.refuses = false;
  assert.ok(await lines.leave(ANN));
  assert.equal(lines.place(ANN), undefined);
  assert.deepEqual(tickets.ended, [ticketId]);
  assert.ok(!(await lines.leave(ANN)));
});

test("only those who wait and the latest matches are remembered", async () => {
  const lines = linesOf(new Tickets(), true);
  for (const playerUuid of [ANN, BEN]) {
    await lines.wait({ playerUuid, serverType: "arena", party: [playerUuid, randomUUID()] });
  }
  await lines.leave(ANN);
  lines.left(BEN);
  assert.equal(lines["parties"].size, 0);
  let told = 0;
  lines.onMatch(() => (told += 1));
  const events = Array.from({ length: 1_500 }, () => matched(randomUUID()));
  for (const event of [...events, ...events.slice(-1)]) lines.matched(event);
  assert.equal(told, 1_500);
  assert.equal(lines["sent"].size, 1_000);
});

test("an event that overtakes the answer is newer", async () => {
  const tickets = new Tickets();
  const lines = linesOf(tickets, true);
  const positions: number[] = [];
  lines.onPlace((place) => positions.push(place.position));
  const waitWhile = async (meanwhile: (ticketId: string) => void) => {
    const { ticketId } = tickets;
    tickets.meanwhile = () => meanwhile(ticketId);
    await lines.wait({ playerUuid: ANN, serverType: "arena", party: [ANN, BEN] });
  };
  const told = { playerUuid: ANN, position: 1, waiting: 2, etaMs: null };
  await waitWhile((ticketId) => lines.updated({ ...told, ticketId }));
  assert.equal(lines.place(ANN)?.position, 1);
  assert.deepEqual(lines["parties"].get(ANN), [ANN, BEN], "no event tells the party");
  await waitWhile((ticketId) => lines.matched({ ...matched(ANN), ticketId }));
  assert.equal(lines.place(ANN), undefined);
  assert.equal(lines["parties"].size, 0);
  // Of an older ticket, of another player, or before the request.
  const later = tickets.ticketId;
  lines.updated({ ...told, ticketId: later });
  await waitWhile((ticketId) => {
    lines.updated({ ...told, ticketId: randomUUID() });
    lines.updated({ ...told, ticketId, playerUuid: BEN });
  });
  assert.deepEqual(lines.place(ANN), { playerUuid: ANN, ticketId: later, position: 2, waiting: 2, etaMs: null });
  assert.deepEqual(positions, [1, 1, 1, 1, 2]);
  assert.equal(lines["asked"].size, 0);
});
