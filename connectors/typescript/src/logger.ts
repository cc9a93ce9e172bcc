/** Where the connector writes what it notices; `console` is one. */
export interface Logger {
  info(message: string): void;
  warn(message: string): void;
}
