// Fails if the document of the events is not valid AsyncAPI.
import { Parser } from "@asyncapi/parser";
import { readFileSync } from "node:fs";

const { document, diagnostics } = await new Parser().parse(readFileSync(process.argv[2], "utf8"));
// A newer version of AsyncAPI is no problem.
const problems = diagnostics.filter((it) => it.code !== "asyncapi-latest-version");
for (const problem of problems) console.error(`${problem.path.join("/")}: ${problem.message}`);
if (problems.length > 0 || !document) process.exit(1);
console.log(`asyncapi: valid, ${document.allMessages().length} events`);
