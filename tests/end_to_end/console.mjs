// Opens each kind of page of the console in a real browser, wide and light, narrow and dark, and fails on a violation of the policy, an error of a
// script, or a page that is wider than its screen. Arguments: the output of a `hub demo`, and a folder for pictures, if they are wanted.
import puppeteer from "puppeteer-core";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [output, pictures] = process.argv.slice(2);
const said = readFileSync(output, "utf8");
const url = /^listening on (\S+)/m.exec(said)[1];
const password = (email) => new RegExp(`${email}\\s+(\\S+)`).exec(said)[1];
const views = [
  { name: "1440-light", width: 1440, height: 900, scheme: "light" },
  { name: "390-dark", width: 390, height: 844, scheme: "dark", isMobile: true, hasTouch: true },
];
const doors = ["sign-in", "returned?signIn=second_factor_needed", "password/lost", "password/reset?token=x", "accept?token=x", "first?code=x", "nothing"];
const network = ["", "/servers", "/servers/connect", "/servers/lobby-eu", "/servers/lobby-eu/changes", "/servers/lobby-eu/settings", "/players",
  "PLAYER", "PLAYER/punishments", "/punishments?player=Player01", "/punishments/new?player=Player01", "/keys", "/staff", "/audit", "/usage",
  "/webhooks", "/modules", "/modules/chat-guard", "/modules/chains/chat", "/nothing"];
const hub = ["hub", "hub/people", "hub/audit"];

// A container has no user for the sandbox.
const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const problems = [];
let seen = 0;

async function visit(context, view) {
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  await page.setViewport({ ...view, deviceScaleFactor: 1 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: view.scheme }]);
  await page.evaluateOnNewDocument(() => {
    globalThis.violations = [];
    document.addEventListener("securitypolicyviolation", (e) => globalThis.violations.push(`${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}:${e.lineNumber}`));
  });
  page.on("pageerror", (error) => problems.push(`${page.url()}: ${error}`));
  // Refused pages and forms are answered with their status, which the browser notes as an error.
  page.on("console", (message) => message.type() === "error" && !message.text().includes("the server responded with a status of 4") && problems.push(`${page.url()}: ${message.text()}`));
  return page;
}
async function look(page, view, path) {
  const answer = await page.goto(`${url}/console${path.startsWith("/") || !path ? path : `/${path}`}`, { waitUntil: "load" });
  await new Promise((resolve) => setTimeout(resolve, 150));
  const found = await page.evaluate(() => ({
    violations: globalThis.violations, title: document.title, main: Boolean(document.querySelector("main h1")),
    wide: document.documentElement.scrollWidth - innerWidth,
  }));
  const at = `${path || "/"} (${view.name})`;
  for (const violation of found.violations) problems.push(`${at}: ${violation}`);
  if (found.wide > 0) problems.push(`${at}: wider than the screen by ${found.wide}`);
  if (!found.title || !found.main) problems.push(`${at}: no title or heading`);
  if (answer.status() >= 500) problems.push(`${at}: ${answer.status()}`);
  if (pictures) await page.screenshot({ path: join(pictures, `${(path || "home").replace(/^\//, "").replace(/[^a-z0-9]+/gi, "-")}-${view.name}.png`) });
  seen += 1;
}
async function signIn(page, email) {
  await page.goto(`${url}/console/sign-in`);
  await page.type("[name=email]", email);
  await page.type("[name=password]", password(email));
  await Promise.all([page.waitForNavigation(), page.click("form[action='/console/sign-in'] button[type=submit]")]);
  assert.ok(!new URL(page.url()).pathname.startsWith("/console/sign-in"), `${email} is signed in`);
}

try {
  for (const view of views) {
    const context = await browser.createBrowserContext();
    const page = await visit(context, view);
    for (const path of doors) await look(page, view, path);
    await signIn(page, "owner@demo.example");
    await page.goto(`${url}/console/n/demo/players`);
    const player = await page.waitForSelector("tbody th a").then((link) => link.evaluate((it) => new URL(it.href).pathname));
    for (const path of network) await look(page, view, path.startsWith("PLAYER") ? `${player.slice("/console".length)}${path.slice("PLAYER".length)}` : `/n/demo${path}`);
    await look(page, view, "me");
    await context.close();
    const other = await browser.createBrowserContext();
    const operator = await visit(other, view);
    await signIn(operator, "operator@demo.example");
    for (const path of hub) await look(operator, view, path);
    await other.close();
  }

  // A moderator mutes somebody and takes it back; the palette and the keys lead there.
  const context = await browser.createBrowserContext();
  const page = await visit(context, views[0]);
  await signIn(page, "moderator@demo.example");
  assert.equal(new URL(page.url()).pathname, "/console/n/demo");
  await page.waitForFunction(() => document.querySelector("#live .dot.good") && !document.querySelector("#live").hidden);
  await page.keyboard.press("g");
  await Promise.all([page.waitForNavigation(), page.keyboard.press("b")]);
  await Promise.all([page.waitForNavigation(), page.keyboard.press("n")]);
  await page.type("[name=playerName]", "Player01");
  await page.type("[name=reason]", "Spam");
  await Promise.all([page.waitForNavigation(), page.click("main form button[type=submit]")]);
  assert.match(await page.$eval("main", (main) => main.innerText), /Spam/);
  await page.waitForFunction(() => !location.search.includes("done="));
  await Promise.all([page.waitForNavigation(), page.click("main form[action$='/punishments/revoke'] button")]);
  await page.keyboard.down("Control");
  await page.keyboard.press("k");
  await page.keyboard.up("Control");
  await page.waitForSelector("#palette[open]");
  await page.type("#palette input", "serv");
  await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
  assert.equal(new URL(page.url()).pathname, "/console/n/demo/servers");
  // Live: a part of the page changes by itself.
  const before = await page.$eval("#list", (list) => list.innerHTML);
  await page.waitForFunction((before) => document.querySelector("#list").innerHTML !== before, { timeout: 60_000 }, before);
  assert.deepEqual(await page.evaluate(() => globalThis.violations), []);

  assert.deepEqual(problems, []);
  console.log(`console: ${seen} pages and a moderator's work without a violation`);
} finally {
  await browser.close();
}
