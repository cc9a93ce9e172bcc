// Writes src/generated/schemas.ts: a type for each schema that the routes of game servers use. Reads the hub's OpenAPI document,
// as `hub openapi` prints it, from the standard input.
import { mkdirSync, writeFileSync } from "node:fs";
import { json } from "node:stream/consumers";
import openapiTS, { astToString } from "openapi-typescript";

const document = await json(process.stdin);

/** The schemas that a part of the document refers to, directly or not. */
function references(part, found = new Set()) {
  for (const [key, value] of Object.entries(part)) {
    const name = key === "$ref" && typeof value === "string" ? value.replace("#/components/schemas/", "") : undefined;
    if (name in document.components.schemas && !found.has(name)) {
      found.add(name);
      references(document.components.schemas[name], found);
    } else if (value !== null && typeof value === "object") {
      references(value, found);
    }
  }
  return found;
}

const routes = Object.entries(document.paths).filter(([path]) => path.startsWith("/api/plugin/") || path === "/api/version");
const names = [...references(Object.fromEntries(routes))].sort();
const schemas = Object.fromEntries(names.map((name) => [name, document.components.schemas[name]]));
const tree = await openapiTS(
  { openapi: document.openapi, info: document.info, paths: {}, components: { schemas } },
  { defaultNonNullable: false, rootTypes: true, rootTypesNoSchemaPrefix: true },
);
mkdirSync("src/generated", { recursive: true });
writeFileSync("src/generated/schemas.ts", astToString(tree));
