// Second chance: a first ban is short, a third mute becomes a ban, and some players are never punished.

import { type CallContext, config, HostError, type PunishmentKind } from "network-hub-module";
import * as log from "network-hub-module/log";
import * as players from "network-hub-module/players";
import { accept, amend, type Proposal, type Punishment, refuse, type Verdict } from "network-hub-module/punishment";

const DEFAULTS = {
  /** The longest first ban: a week. */
  firstBanMs: 7 * 24 * 60 * 60 * 1000,
  /** Players with this permission are never punished; empty: none. */
  immuneNode: "",
};

export const punishment: Punishment = {
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

function evaluate(context: CallContext, { playerUuid, playerName, terms }: Proposal): Verdict {
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

/** Number of such punishments of the player; revoked ones do not count. */
function earlier(uuid: string, kind: PunishmentKind): number {
  return players.punishments(uuid, { kind }).filter(({ revoked }) => !revoked).length;
}
