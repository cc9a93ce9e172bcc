/** A player's UUID as the hub writes it: in lower case with hyphens. */
export function playerId(uuid: string): string {
  const digits = uuid.replaceAll("-", "").toLowerCase();
  const parts = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(digits);
  if (parts === null) throw new TypeError(`${uuid} is no UUID`);
  return parts.slice(1).join("-");
}
