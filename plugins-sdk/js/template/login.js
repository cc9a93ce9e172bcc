// Doorkeeper: while the network is closed only players with a permission may join, and new players may be kept out.

import { config, HostError } from "network-hub-module";
import { allow, refuse } from "network-hub-module/login";
import * as log from "network-hub-module/log";
import * as players from "network-hub-module/players";

const DEFAULTS = {
  /** Reason for keeping everybody else out; empty: the network is open. */
  closed: "",
  /** Permission of players who may always join. */
  staffNode: "join.always",
  /** False keeps players out whom the network has never seen. */
  newPlayers: true,
};

/** @type {import("network-hub-module/login").Login} */
export const login = {
  check(context, { player, firstJoin }) {
    const { closed, staffNode, newPlayers } = config(context, DEFAULTS);
    const isNew = !newPlayers && firstJoin;
    if ((closed === "" && !isNew) || isStaff(player.uuid, staffNode)) return allow();
    return closed === "" ? refuse("New players can't join right now.", "new_player") : refuse(closed, "closed");
  },
};

/** @type {(uuid: string, node: string) => boolean} */
function isStaff(uuid, node) {
  try {
    return node !== "" && players.permission(uuid, node) === "granted";
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    log.warn(`permissions can't be read: ${error.message}`);
    return false;
  }
}
