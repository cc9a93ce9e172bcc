/** Log of the connector; `console` is one. */
export interface Logger {
  info(message: string): void;
  warn(message: string): void;
}
