// Players change servers at random, and buy and discard items, while servers and the hub are killed. Their items are counted at each arrival.
import assert from "node:assert/strict";
import { HOST, PATIENCE, until } from "./player.js";
import { arrives } from "./evening.js";

const ITEM = "diamond";
const pick = (list) => list[Math.floor(Math.random() * list.length)];

/** A player, and what they must have. */
class Carrier {
  /** Items that were thrown away, and how many of these before the last save that is certain. */
  discarded = 0;
  discardedAtSave = 0;
  switches = 0;

  constructor(network, player, bought) {
    Object.assign(this, { network, player, bought });
  }

  get server() {
    return this.network.servers.find((server) => server.port === this.player.port);
  }

  /** True if the server is no longer there: what was asked of it has no answer. */
  get isLost() {
    return !this.player.isHere && this.player.kicked !== null;
  }

  /** Waits for one of the answers; null if the server was lost. */
  async answer(from, pattern) {
    const find = () => this.player.lines.slice(from).map((line) => pattern.exec(line)).find(Boolean);
    return until(() => `${this.player.name} sees ${pattern}`, () => find() ?? (this.isLost ? "lost" : null)).then((found) => (found === "lost" ? null : found));
  }

  check() {
    assert.equal(this.player.count(ITEM), this.bought - this.discarded, `${this.player.name} on ${this.server.id}`);
  }

  async buy() {
    const amount = 1 + Math.floor(Math.random() * 3);
    const from = this.player.lines.length;
    this.player.say(`/buy ${ITEM} ${amount}`);
    const received = await this.answer(from, /You received (\d+) diamond|hub does not answer|http_5|shutting_down/);
    if (received === null) return;
    // It may have been taken before the hub was gone, or may not.
    if (!received[1]) return this.settle();
    assert.equal(Number(received[1]), amount);
    this.bought += amount;
    // A purchase saves all.
    this.discardedAtSave = this.discarded;
    this.check();
  }

  async discard() {
    if (this.player.count(ITEM) === 0) return;
    const from = this.player.lines.length;
    this.player.say(`/discard ${ITEM} 1`);
    const done = await this.answer(from, /You threw 1 diamond away|You have not that much/);
    if (done === null) this.mayHaveDiscarded = true;
    else if (done[0].startsWith("You threw")) this.discarded += 1;
  }

  async move() {
    const { player } = this;
    const target = pick(this.network.servers.filter((server) => server !== this.server));
    const from = player.lines.length;
    player.say(`/server ${target.id}`);
    const answer = await until(() => `${player.name} comes from ${this.server.id} to ${target.id}: ${JSON.stringify(player.lines.slice(from))}`, () => {
      if (this.isLost) return "lost";
      if (player.port === target.port && player.isHere && player.lines.slice(from).includes("Your inventory is here.")) return "there";
      return player.lines.slice(from).some((line) => /cannot be sent|did not work|cannot be reached/.test(line)) && "refused";
    });
    if (answer === "lost") return;
    if (answer === "there") {
      this.discardedAtSave = this.discarded;
      this.switches += 1;
    }
    this.check();
  }

  /** After the end of the server: joins the lobby, and has what was saved. Nothing that was bought is lost or doubled. */
  async recover() {
    const { player, network } = this;
    let from = 0;
    await until(`${player.name} joins the lobby after ${player.kicked}`, async () => {
      from = player.lines.length;
      return (await player.join(network.lobby.port)) === null;
    });
    await arrives(player, network.lobby, from);
    await this.settle();
  }

  /** Waits until all orders are delivered, and has what they were. */
  async settle() {
    const { player, network } = this;
    let items = [];
    await until(() => `the orders of ${player.name} are delivered: ${JSON.stringify(items)}`, async () => {
      ({ items } = await network.call("GET", `/api/manage/deliveries?playerUuid=${player.uuid}&limit=200`).catch(() => ({ items: null })));
      return items?.every(({ state }) => state === "DELIVERED");
    }, 3 * PATIENCE);
    const bought = items.map(({ payload }) => payload).filter(({ item }) => item === ITEM).reduce((sum, { amount }) => sum + amount, 0);
    const most = bought - this.discardedAtSave;
    const least = bought - this.discarded - (this.mayHaveDiscarded ? 1 : 0);
    await until(() => `${player.name} has ${player.count(ITEM)} of ${least} to ${most}`, () => player.count(ITEM) >= least && player.count(ITEM) <= most);
    Object.assign(this, { bought, discarded: bought - player.count(ITEM), mayHaveDiscarded: false });
    this.discardedAtSave = this.discarded;
  }

  /** Goes on until all have done enough: whoever stopped in a full arena would leave the last one no place to go. */
  async run(isEnough) {
    while (!isEnough()) {
      if (this.isLost) await this.recover();
      else await pick([() => this.buy(), () => this.discard(), () => this.move(), () => this.move()])();
    }
  }
}

/** Makes at least `total` switches, a kill of a server among them; the players are in the network already. */
export async function switches(network, players, total, tell) {
  const carriers = [];
  for (const player of players) {
    const purse = { currency: "coins", amount: 100_000, reason: "for the switches", exact: true };
    await network.call("POST", `/api/plugin/economy/player/${player.uuid}/currencies/modify`, purse);
    carriers.push(new Carrier(network, player, player.count(ITEM)));
  }
  const done = () => carriers.reduce((sum, carrier) => sum + carrier.switches, 0);
  const kills = { server: 0, hub: 0 };
  const killHub = async (at) => {
    await until(`${at} switches`, () => done() >= at, 10 * PATIENCE);
    await network.killHub();
    kills.hub += 1;
    tell(`the hub was killed after ${at} switches, and started again`);
  };
  const killServer = async (at) => {
    // One with somebody on it.
    const victim = await until("somebody is in an arena", () => done() >= at && carriers.find(({ server, player }) => server !== network.lobby && player.isHere)?.server, 10 * PATIENCE);
    await victim.kill();
    kills.server += 1;
    tell(`${victim.id} was killed after ${done()} switches`);
    await victim.start();
  };
  const killing = (async () => {
    const pause = Math.min(30, Math.floor(total / 3));
    for (let at = pause, isHub = false; at < total * 0.9; at += pause, isHub = !isHub) await (isHub ? killHub(at) : killServer(at));
  })();
  await Promise.all([killing, ...carriers.map((carrier) => carrier.run(() => done() >= total))]);
  for (const carrier of carriers) if (carrier.isLost) await carrier.recover();
  for (const carrier of carriers) carrier.check();
  const items = carriers.map(({ player }) => `${player.name} ${player.count(ITEM)}`).join(", ");
  tell(`${done()} switches later (servers killed: ${kills.server}, hub: ${kills.hub}) all have what they bought: ${items} diamonds`);
}
