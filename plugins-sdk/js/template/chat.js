// Polite: masks words, and refuses a line that its sender repeats.

import { config } from "network-hub-module";
import { allow, refuse, rewrite } from "network-hub-module/chat";
import * as log from "network-hub-module/log";
import * as store from "network-hub-module/store";

const DEFAULTS = {
  /**
   * Masked with stars where they stand alone; a to z in any case.
   * @type {string[]}
   */
  words: [],
  /** Time for which a line may not be repeated; 0 allows it at once. */
  repeatMs: 5000,
};

/** ASCII letters and digits, and all other characters. */
const WORD = /[0-9A-Za-z\u{80}-\u{10ffff}]+/gu;

/** @param {string} text */
const lower = (text) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** @type {import("network-hub-module/chat").Chat} */
export const chat = {
  filter(context, { player, message }) {
    const { words, repeatMs } = config(context, DEFAULTS);
    if (repeatMs > 0 && isRepeated(player.uuid, message, repeatMs)) {
      log.info(`refused a repeated line of ${player.name}`);
      return refuse("You said that already.");
    }
    const masked = new Set(words.map(lower));
    const polite = message.replace(WORD, (word) => masked.has(lower(word)) ? "*".repeat([...word].length) : word);
    if (polite === message) return allow();
    log.info(`masked words of ${player.name}`);
    return rewrite(polite);
  },
};

/**
 * True if the line repeats the last one; if not, remembers it.
 * @param {string} uuid
 * @param {string} message
 * @param {number} repeatMs
 */
function isRepeated(uuid, message, repeatMs) {
  const key = `last:${uuid}`;
  try {
    if (store.get(key) === message) return true;
    store.set(key, message, repeatMs);
  } catch (error) {
    log.warn(`the store can't be reached: ${error}`);
  }
  return false;
}
