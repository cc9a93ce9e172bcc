// Tries the interactive reference like a new user: opens the hub's address, pastes the key, presses the first Execute
// of "Find a server or world for a player", and changes nothing else. Arguments: the URL and the key of a `hub demo`.
import puppeteer from "puppeteer-core";
import assert from "node:assert/strict";

const [url, key] = process.argv.slice(2);
// A container has no user for the sandbox.
const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  const problems = [];
  page.on("pageerror", (error) => problems.push(`${error}`));
  page.on("requestfailed", (request) => problems.push(`${request.url()}: ${request.failure()?.errorText}`));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));

  await page.goto(url);
  assert.equal(new URL(page.url()).pathname, "/api", "the hub's address leads to the reference");
  await page.locator("button.authorize").click();
  await page.locator(".modal-ux input").fill(key);
  await page.locator(".modal-ux button.authorize").click();
  await page.locator(".modal-ux .btn-done").click();

  const find = "#operations-Matchmaking-findMatch";
  await page.locator(`${find} .opblock-summary-control`).click();
  await page.locator(`${find} button.execute`).click();
  const answer = `${find} .live-responses-table .response`;
  const status = await page.waitForSelector(`${answer} .response-col_status`);
  const text = await page.$eval(`${answer} .highlight-code`, (code) => code.innerText);
  assert.equal(await status.evaluate((cell) => cell.innerText.trim().split(/\s/)[0]), "200", text);
  const match = JSON.parse(text.slice(text.indexOf("{")));
  assert.equal(match.result, "SUCCESS", text);
  assert.match(match.matchedServer.serverId, /^bedwars-/, text);
  assert.deepEqual(problems, []);
  console.log(`reference: the first Execute of find leads to ${match.matchedServer.serverId}`);
} finally {
  await browser.close();
}
