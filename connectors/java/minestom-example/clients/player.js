// A scripted Minecraft client: it sees texts and items, and follows transfers to other servers itself.
import data from "minecraft-data";
import protocol from "minecraft-protocol";
import nbt from "prismarine-nbt";

export const HOST = "127.0.0.1";
/** The newest version of the protocol that the library speaks: that of Minecraft 26.1 to 26.1.2. */
const VERSION = "26.1";
const { itemsByName } = data(VERSION);
/** Milliseconds for anything that takes a moment on an idle machine. */
export const PATIENCE = Number(process.env.PATIENCE ?? 60_000);

/** Waits until a check returns something true, and returns that. */
export async function until(what, check, patience = PATIENCE) {
  const deadline = Date.now() + patience;
  for (;;) {
    const found = await check();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`waited in vain: ${typeof what === "function" ? what() : what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function text(part) {
  if (typeof part === "string") return part;
  if (Array.isArray(part)) return part.map(text).join("");
  if (part === null || typeof part !== "object") return "";
  return `${part.text ?? part[""] ?? ""}${text(part.with ?? [])}${text(part.extra ?? [])}`;
}

/** The plain text of a component, which is JSON until the login is over and NBT after it. */
function plain(component) {
  return typeof component === "string" ? text(JSON.parse(component)) : text(nbt.simplify(component));
}

/** The place in the inventory window of a place in the inventory. */
function windowSlot(slot) {
  if (slot < 9) return slot + 36;
  if (slot < 36) return slot;
  return slot < 40 ? 44 - slot : 45;
}

export class Player {
  /** All lines that were shown, on all servers. */
  lines = [];
  /** Port of the server that they are on or join. */
  port = null;
  /** True from the login's end on. */
  isHere = false;
  /** The reason for which a server let them go or refused them; null if none did. */
  kicked = null;
  uuid = null;
  #slots = new Map();
  #client = null;

  constructor(name) {
    this.name = name;
  }

  /** Joins a server. Returns null, or the text for which it refused. */
  async join(port) {
    this.kicked = null;
    this.#connect(HOST, port, false);
    await until(() => `${this.name} joins ${port}`, () => this.isHere || this.kicked !== null);
    return this.kicked;
  }

  #connect(host, port, isTransfer) {
    this.port = port;
    this.isHere = false;
    this.#slots.clear();
    const client = protocol.createClient({ host, port, username: this.name, auth: "offline", version: VERSION });
    this.#client = client;
    if (isTransfer) {
      // A client that was sent here says so.
      const write = client.write.bind(client);
      client.write = (name, fields) => write(name, name === "set_protocol" ? { ...fields, nextState: 3 } : fields);
    }
    const mine = (listener) => (packet) => client === this.#client && listener(packet);
    const gone = mine((packet) => (this.kicked = plain(packet.reason)));
    client.on("success", mine((packet) => (this.uuid = packet.uuid)));
    client.on("login", mine(() => (this.isHere = true)));
    client.on("system_chat", mine((packet) => packet.isActionBar || this.lines.push(plain(packet.content))));
    client.on("disconnect", gone);
    client.on("kick_disconnect", gone);
    client.on("transfer", mine((packet) => {
      this.#client = null;
      client.end("transferred");
      this.#connect(packet.host, packet.port, true);
    }));
    client.on("window_items", mine((packet) => packet.windowId === 0 && packet.items.forEach((item, slot) => this.#slots.set(slot, item))));
    client.on("set_slot", mine((packet) => packet.windowId === 0 && this.#slots.set(packet.slot, packet.item)));
    client.on("set_player_inventory", mine((packet) => this.#slots.set(windowSlot(packet.slotId), packet.contents)));
    client.on("error", mine((error) => (this.kicked ??= `lost: ${error.message}`)));
    client.on("end", mine((reason) => {
      this.isHere = false;
      this.kicked ??= `lost: ${reason}`;
    }));
  }

  /** Number of items of a kind that the client shows. */
  count(item) {
    const { id } = itemsByName[item];
    let sum = 0;
    for (const slot of this.#slots.values()) if (slot.itemCount > 0 && slot.itemId === id) sum += slot.itemCount;
    return sum;
  }

  /** Says a line, or runs a command. */
  say(line) {
    this.#client.chat(line);
  }

  /** Waits for a line that has a text or matches a pattern, behind the first `from` lines. */
  async sees(wanted, from = 0, patience = PATIENCE) {
    const fits = (line) => (wanted instanceof RegExp ? wanted.test(line) : line.includes(wanted));
    const what = () => `${this.name} sees ${wanted} after ${JSON.stringify(this.lines.slice(from).slice(-8))}${this.kicked ? `, gone: ${this.kicked}` : ""}`;
    return until(what, () => this.lines.slice(from).find(fits), patience);
  }

  /** Says a line, and waits for an answer. */
  async ask(line, wanted) {
    const from = this.lines.length;
    this.say(line);
    return this.sees(wanted, from);
  }

  leave() {
    const client = this.#client;
    this.#client = null;
    this.isHere = false;
    client?.end("left");
  }
}
