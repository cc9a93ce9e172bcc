/** The newest version whose servers a proxy can switch between without a configuration phase. */
export const VERSION = "1.16.5";
export const HOST = "127.0.0.1";
/** The channel on which a server hands transfer commands to the proxy. */
export const TRANSFER_CHANNEL = "hub:transfer";

/** Message to a refused player; without a ban the hub could not be asked. */
export function describePunishment(punishment) {
  if (!punishment) return "The network cannot be reached, try again in a minute";
  const what = punishment.type === "BAN" ? "You are banned" : "You were kicked";
  return `${what}: ${punishment.reason ?? "no reason was given"}`;
}

/** Warnings only: the console belongs to the players. */
export const quiet = { info() {}, warn: console.warn };
