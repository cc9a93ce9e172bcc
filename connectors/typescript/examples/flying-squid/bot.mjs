// A player without hands: mineflayer.
import { once } from "node:events";
import mineflayer from "mineflayer";
import { HOST, VERSION } from "./settings.mjs";

const PATIENCE_MS = 60_000;

export class Bot {
  /** Every line of chat that came, and the reason of a kick. */
  lines = [];
  #next = 0;

  constructor(name, port, tell = () => {}) {
    this.name = name;
    this.bot = mineflayer.createBot({ host: HOST, port, username: name, version: VERSION, auth: "offline", viewDistance: "tiny" });
    this.bot.on("messagestr", (line) => this.#see(line, tell));
    this.bot.on("kicked", (reason) => this.#see(JSON.parse(reason).text, tell));
    this.bot.on("error", (error) => this.#see(`error: ${error.message}`, tell));
  }

  #see(line, tell) {
    this.lines.push(line);
    tell(`${this.name} sees: ${line}`);
    this.bot.emit("line");
  }

  get uuid() {
    return this.bot._client.uuid;
  }

  say(line) {
    this.bot.chat(line);
  }

  /** Digs the block below. */
  async dig() {
    const findBlock = () => this.bot.blockAt(this.bot.entity.position.offset(0, -1, 0));
    while (!findBlock()) await once(this.bot, "chunkColumnLoad", { signal: AbortSignal.timeout(PATIENCE_MS) });
    await this.bot.dig(findBlock(), true);
  }

  /** Waits for a line, after those that were waited for before. */
  async sees(expected) {
    const patience = AbortSignal.timeout(PATIENCE_MS);
    for (;;) {
      const at = this.lines.indexOf(expected, this.#next);
      if (at >= 0) return void (this.#next = at + 1);
      await once(this.bot, "line", { signal: patience }).catch(() => {
        throw new Error(`${this.name} did not see "${expected}", but\n${this.lines.join("\n")}`);
      });
    }
  }

  leave() {
    this.bot.end();
  }
}
