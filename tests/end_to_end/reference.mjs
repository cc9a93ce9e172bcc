// Tries the book and the reference like a new user: opens the hub's address, searches the reference for "ban", pastes the key, sends
// the example of "Find a server or world for a player" unchanged, and follows the event stream until it is stopped.
// Arguments: the URL and the key of a `hub demo`.
import puppeteer from "puppeteer-core";
import assert from "node:assert/strict";

const [url, key] = process.argv.slice(2);

// Paths whose ids are drawn at random, are of a sign-in, or name what a demo does not have: a machine's agent, a link.
const UNKNOWN = [
  /^\/api\/admin\//, /^\/api\/people\//, /\/audit\/\{id\}/, /\{(appealId|artifactId|callId|code|importId|ticketId|token|transferId|webhookId)\}/,
  /^\/api\/public\/waitlist\/confirm$/, /^\/api\/plugin\/provisioning\/agent\/\{serverType\}$/, /\/events$/, /\/logs$/,
];

// Reads the example of each GET as it stands in the document, with the key of the demo.
async function readExamples() {
  const { paths } = await (await fetch(`${url}/api/openapi.json`)).json();
  const refused = [];
  let read = 0;
  for (const [path, { get }] of Object.entries(paths)) {
    if (!get || UNKNOWN.some((unknown) => unknown.test(path))) continue;
    const query = new URLSearchParams();
    let filled = path;
    for (const { name, in: place, required, example, schema } of get.parameters ?? []) {
      const value = example ?? schema?.example ?? schema?.examples?.[0];
      if (place === "path") filled = filled.replace(`{${name}}`, encodeURIComponent(value));
      if (place === "query" && required) query.set(name, value);
    }
    // One of two is required, which no schema says.
    if (path === "/api/plugin/punishments/query") query.set("playerUuid", "069a79f4-44e9-4726-a5be-fca90e38aaf5");
    const answer = await fetch(`${url}${filled}?${query}`, { headers: { "X-Service-Api-Key": key } });
    read += 1;
    if (!answer.ok) refused.push(`${answer.status} ${filled}: ${await answer.text()}`);
  }
  return { read, refused };
}

// By time: a browser without a screen may draw no frame for long.
const often = { polling: 100 };
// A container has no user for the sandbox.
const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  const problems = [];
  page.on("pageerror", (error) => problems.push(`${error}`));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));

  await page.goto(url);
  assert.equal(new URL(page.url()).pathname, "/docs", "the hub's address leads to the book");
  await page.goto(`${url}/api`);
  await page.locator("#q").fill("ban");
  await page.waitForFunction(() => document.querySelector("#operations h1")?.textContent.includes("ban"), often);
  const found = await page.$$eval("#operations ol.found a", (links) => links.map((link) => link.getAttribute("href")));
  assert.ok(found.some((href) => /punish/i.test(href)), `${found}`);

  await page.goto(`${url}/docs/api/findMatch`);
  await page.locator("#try-key").fill(key);
  await page.locator("#try button[type=submit]").click();
  await page.waitForFunction(() => /^\d/.test(document.querySelector("#try .status").textContent), often);
  const status = await page.$eval("#try .status", (it) => it.textContent);
  const text = await page.$eval("#try .answered", (it) => it.textContent);
  assert.match(status, /^200 /, text);
  const match = JSON.parse(text);
  assert.equal(match.result, "SUCCESS", text);
  assert.match(match.matchedServer.serverId, /^bedwars-/, text);

  const stream = await page.evaluate(async () => {
    const { paths } = await (await fetch("/api/openapi.json")).json();
    return paths["/api/plugin/events"].get.operationId;
  });
  await page.goto(`${url}/docs/api/${stream}`);
  await page.locator("#try button[type=submit]").click();
  await page.waitForFunction(() => document.querySelector("#try .answered").textContent.includes("event:"), often);
  // By the button itself and not by its place, which the answer above may change meanwhile.
  await page.$eval("#try [data-stop]", (button) => button.click());
  await page.waitForFunction(() => document.querySelector("#try .status").textContent === "Stopped.", often);
  assert.deepEqual(problems, []);

  const { read, refused } = await readExamples();
  assert.deepEqual(refused, [], "examples of the reference name what the demo has");
  console.log(`reference: the example of find leads to ${match.matchedServer.serverId}, the stream stops, ${read} examples are read`);
} finally {
  await browser.close();
}
