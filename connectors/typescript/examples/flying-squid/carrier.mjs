// A player who carries items from server to server: a connection without a world, which comes back when it is cut.
import { setTimeout as sleep } from "node:timers/promises";
import minecraft from "minecraft-protocol";
import { HOST, VERSION } from "./settings.mjs";

const PATIENCE_MS = 60_000;

export class Carrier {
  /** Every line of chat that came. */
  lines = [];
  #slots = new Map();
  #client;
  #isGone = false;

  constructor(name, port) {
    this.name = name;
    this.port = port;
    this.#connect();
  }

  #connect() {
    if (this.#isGone) return;
    const client = (this.#client = minecraft.createClient({ host: HOST, port: this.port, username: this.name, version: VERSION, auth: "offline" }));
    let hasEnded = false;
    const again = () => {
      if (hasEnded) return;
      hasEnded = true;
      setTimeout(() => this.#connect(), 300);
    };
    // Another world, another inventory: what is carried comes with the slots.
    for (const name of ["login", "respawn"]) client.on(name, () => this.#slots.clear());
    client.on("set_slot", ({ windowId, slot, item }) => windowId === 0 && this.#slots.set(slot, item));
    client.on("chat", ({ message }) => this.lines.push(textOf(JSON.parse(message))));
    client.on("error", () => client.end());
    client.on("end", again);
  }

  get uuid() {
    return this.#client.uuid;
  }

  /** Items that the player sees. */
  get items() {
    return [...this.#slots.values()].reduce((sum, item) => sum + (item.present ? item.itemCount : 0), 0);
  }

  say(message) {
    if (this.#client.state === minecraft.states.PLAY) this.#client.write("chat", { message });
  }

  /** Waits for a line that begins so, after the first `from` lines; undefined if it does not come in time. */
  async sees(start, from = 0, patienceMs = PATIENCE_MS) {
    for (const until = Date.now() + patienceMs; Date.now() < until; await sleep(20)) {
      const line = this.lines.slice(from).find((each) => each.startsWith(start));
      if (line !== undefined) return line;
    }
    return undefined;
  }

  leave() {
    this.#isGone = true;
    this.#client.end();
  }
}

function textOf({ text = "", extra = [] }) {
  return text + extra.map(textOf).join("");
}
