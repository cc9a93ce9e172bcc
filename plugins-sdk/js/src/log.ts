/** The module's log, read by its owner on the hub. A call keeps its first 64 lines, each cut at 2,048 bytes. */

import log from "network-hub:module/log@1.0.0";

/** A line for the author while developing. */
export const debug = (message: string): void => log.write("debug", message);

/** A line worth knowing. */
export const info = (message: string): void => log.write("info", message);

/** Something looks wrong. */
export const warn = (message: string): void => log.write("warn", message);

/** Something is wrong. */
export const error = (message: string): void => log.write("error", message);
