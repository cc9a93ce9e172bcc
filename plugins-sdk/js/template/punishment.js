// Second chance: a first ban is short, a third mute becomes a ban, and some players are never punished.

import { config, HostError } from "network-hub-module";
import * as log from "network-hub-module/log";
import * as players from "network-hub-module/players";
import { accept, amend, refuse } from "network-hub-module/punishment";

const DEFAULTS = {
  /** The longest first ban: a week. */
  firstBanMs: 7 * 24 * 60 * 60 * 1000,
  /** Players with this permission are never punished; empty: none. */
  immuneNode: "",
};

/** @type {import("network-hub-module/punishment").Punishment} */
export const punishment = {
  review(context, proposal) {
    try {
      return evaluate(context, proposal);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      log.warn(`the record can't be read: ${error.message}`);
      return accept();
    }
  },
};

/**
 * @param {import("network-hub-module").CallContext} context
 * @param {import("network-hub-module/punishment").Proposal} proposal
 */
function evaluate(context, { playerUuid, playerName, terms }) {
  const { firstBanMs, immuneNode } = config(context, DEFAULTS);
  if (playerUuid === null) return accept();
  if (immuneNode !== "" && players.permission(playerUuid, immuneNode) === "granted") {
    return refuse(`${playerName ?? "This player"} can't be punished.`);
  }
  const isLong = terms.durationMs === null || terms.durationMs > firstBanMs;
  if (terms.kind === "ban" && isLong && earlier(playerUuid, "ban") === 0) {
    return amend({ ...terms, durationMs: firstBanMs });
  }
  if (terms.kind === "mute" && earlier(playerUuid, "mute") >= 2) {
    return amend({ ...terms, kind: "ban" });
  }
  return accept();
}

/**
 * Number of such punishments of the player; revoked ones do not count.
 * @param {string} uuid
 * @param {import("network-hub-module").PunishmentKind} kind
 */
function earlier(uuid, kind) {
  return players.punishments(uuid, { kind }).filter(({ revoked }) => !revoked).length;
}
