// Bonus: players earn more of one currency, and nobody spends too much of it at once.

import { config } from "network-hub-module";
import { accept, amend, type Economy, refuse, single } from "network-hub-module/economy";
import * as log from "network-hub-module/log";

const DEFAULTS = {
  /** The currency; changes of others are left as they are. */
  currency: "coins",
  /** Extra that players earn, in percent. */
  bonusPercent: 50,
  /** The most that one operation may take; 0: no limit. */
  mostSpent: 0,
};

export const economy: Economy = {
  review(context, change) {
    const { currency, bonusPercent, mostSpent } = config(context, DEFAULTS);
    const spent = change.operations.filter((operation) => operation.currency === currency);
    if (mostSpent > 0 && spent.some(({ amount }) => amount < -mostSpent)) {
      return refuse(`At most ${mostSpent} ${currency} at once.`);
    }
    const earned = single(change);
    if (earned === null || earned.currency !== currency || earned.ownerType !== "player") return accept();
    if (earned.amount <= 0 || bonusPercent === 0) return accept();
    log.info(`${earned.ownerKey} earns a bonus`);
    return amend(earned.amount + (earned.amount * bonusPercent) / 100);
  },
};
