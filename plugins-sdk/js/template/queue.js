// Members first: players with a permission wait less, and others with another one do not wait at all.

import { config, HostError } from "network-hub-module";
import * as log from "network-hub-module/log";
import * as players from "network-hub-module/players";
import { admit, refuse } from "network-hub-module/queue";

const DEFAULTS = {
  /** Permission of members. */
  memberNode: "queue.member",
  /** Their priority; that of others is 0. */
  memberPriority: 100,
  /** Permission of players who may not wait; empty: none. */
  blockedNode: "",
};

/** @type {import("network-hub-module/queue").Queue} */
export const queue = {
  place(context, { player }) {
    const { memberNode, memberPriority, blockedNode } = config(context, DEFAULTS);
    try {
      if (has(player.uuid, blockedNode)) return refuse("You can't join games right now.");
      return admit(has(player.uuid, memberNode) ? memberPriority : 0);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      log.warn(`permissions can't be read: ${error.message}`);
      return admit();
    }
  },
};

/** @type {(uuid: string, node: string) => boolean} */
const has = (uuid, node) => node !== "" && players.permission(uuid, node) === "granted";
