/** The module's log, which its owner reads on the hub. A call keeps its first 64 lines, each cut at 2,048 bytes. */

import log from "network-hub:module/log";

/** Logs a line for the author while developing. */
export const debug = (message: string): void => log.write("debug", message);

/** Logs information. */
export const info = (message: string): void => log.write("info", message);

/** Logs a warning. */
export const warn = (message: string): void => log.write("warn", message);

/** Logs an error. */
export const error = (message: string): void => log.write("error", message);
