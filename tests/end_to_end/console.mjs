// Opens each kind of page of the console in a real browser, wide and light, narrow and dark, and fails on a violation of the policy, an error of a
// script, a serious finding of axe, or a page that is wider than its screen. Arguments: the output of a `hub demo`, and a folder for pictures, if
// they are wanted.
import puppeteer from "puppeteer-core";
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [output, pictures] = process.argv.slice(2);
const said = readFileSync(output, "utf8");
const url = /^listening on (\S+)/m.exec(said)[1];
const key = /HUB_KEY=(\S+)/.exec(said)[1];
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const password = (email) => new RegExp(`${email}\\s+(\\S+)`).exec(said)[1];
const wide = { width: 1440, height: 900 }, narrow = { width: 390, height: 844, isMobile: true, hasTouch: true };
const views = [{ name: "1440-light", ...wide, scheme: "light" }, { name: "390-dark", ...narrow, scheme: "dark" }];
// The page on the console shows some of the pages in all views.
const shown = { "": "overview", "/servers/lobby-eu": "server", PLAYER: "player", "/reports/1": "report", "/modules/chains/chat": "chain", "/modules/votes": "module", "/modules/votes/activation": "activation", "/permissions/vip": "permissions", "/find?serverType=lobby": "find" };
if (pictures) views.push({ name: "1440-dark", ...wide, scheme: "dark" }, { name: "390-light", ...narrow, scheme: "light" });
const doors = ["sign-in", "returned?signIn=second_factor_needed", "password/lost", "password/reset?token=x", "accept?token=x", "first?code=x", "nothing"];
const network = ["", "/servers", "/servers/connect", "/servers/lobby-eu", "/servers/lobby-eu/changes", "/servers/lobby-eu/history", "/servers/lobby-eu/players", "/servers/lobby-eu/settings", "/players",
  "PLAYER", "PLAYER/punishments", "/punishments?player=Player01", "/punishments/new?player=Player01", "/keys", "/staff", "/audit", "/usage",
  "/webhooks", "/modules", "/modules/chat-guard", "/modules/chains/chat", "/nothing", "/reports", "/reports/1", "/appeals", "/deliveries",
  "/punishments/1", "/queues", "/queues/type%3Abedwars", "/permissions", "/permissions/vip", "PLAYER/permissions?node=essentials.fly", "PLAYER/data", "PLAYER/money", "/config",
  "/config?group=lobby&namespace=scoreboard", "/texts", "/texts/locales", "/collections", "/collections?collection=guilds&field=level",
  "/collections?collection=guilds&id=red", "/money", "/leaderboards?currency=coins", "/worlds", "/imports", "/chat",
  "/modules/chains/chat/calls", "/modules/chat-guard/replay", "/find?serverType=lobby", "/artifacts", "/staff/roles", "/staff/roles/helper", "/settings",
  "/modules/chains/chat/differences", "/modules/votes", "/modules/votes/activation", "/modules/votes/schedules", "/secrets", "/modules/chains/endpoints", "/modules/chains/events", "/modules/chains/chat/revisions", "/plan", "/modules/chat-guard/dead-letters", "WEBHOOK", "WEBHOOK/deliveries/1"];
const hub = ["hub", "hub/people", "hub/audit", "hub/plans", "hub/plans/default", "hub/nodes", "hub/waitlist"];

async function call(method, path, body) {
  const answer = await fetch(`${url}${path}`, {
    method, headers: { "X-Service-Api-Key": key, "Content-Type": "application/json" }, body: body && JSON.stringify(body),
  });
  const text = await answer.text();
  assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
  return text ? JSON.parse(text) : undefined;
}
// Things of each kind, so that no page is empty.
async function fill() {
  let players = [];
  while (players.length < 2) players = (await call("GET", "/api/plugin/players?limit=2")).items;
  const [player, reporter] = players.map((it) => it.uuid);
  const { reportId } = await call("POST", "/api/plugin/reports", { reporterUuid: reporter, playerUuid: player, reason: "Insults in chat", serverId: "lobby-eu" });
  const mute = await call("POST", "/api/plugin/punishments/create", { playerUuid: reporter, type: "MUTE", reason: "Spam", durationMs: 3_600_000, issuerName: "Tobi" });
  if (mute.appealCode) await call("POST", `/api/public/appeals/${mute.appealCode}`, { text: "It was my brother.", contact: "steve@example.org" });
  await call("POST", "/api/plugin/deliveries", { playerUuid: player, kind: "kit", payload: { kit: "starter" }, reference: "order-4711" });
  const vip = { displayName: "VIP", priority: 5, permissions: [{ node: "group.member" }, { node: "essentials.fly" }] };
  await call("PUT", "/api/plugin/permissions/groups/vip", vip);
  await call("POST", `/api/plugin/permissions/users/${player}/permissions`, { node: "group.vip" });
  await call("POST", "/api/plugin/config/publish", { group: "lobby", namespace: "scoreboard", doc: { title: "Welcome" } });
  await call("PUT", "/api/manage/localization/messages/en_us/lobby/welcome", { value: "Hello and welcome!" });
  await call("POST", "/api/plugin/collections/register", { collections: [{ name: "guilds", key: "id", indexes: [{ field: "level", type: "number" }] }] });
  await call("PUT", "/api/plugin/collections/guilds/red", { id: "red", level: 7 });
  await call("POST", `/api/plugin/economy/player/${player}/currencies/modify`, { currency: "coins", amount: 120 });
  await call("PUT", "/api/manage/matchmaking/lines/type%3Abedwars", { maxWaiting: 500 });
  const said = ["[Hub] state WAITING told to the hub in 3 ms", "BriskOtter joined the game", "<BriskOtter> anyone for bedwars?", "[Lobby] 3 players waiting for bedwars", "BriskOtter left the game"];
  await call("POST", "/api/plugin/servers/lobby-eu/logs", { lines: said.map((text, at) => ({ at: Date.now() - 60_000 + at * 9_000, stream: "stdout", text })) });
  await call("PUT", "/api/manage/roles/helper", { scopes: ["reports:manage", "chat:read"] });
  await call("POST", "/api/manage/artifacts?name=my-plugin&version=1.4.0", "bytes");
  // Its address leads nowhere.
  const { webhookId } = await call("POST", "/api/manage/webhooks", { kind: "DISCORD", name: "ban feed", url: "https://webhook.invalid/api/webhooks/1/token", events: ["PUNISHMENT"] });
  await call("POST", `/api/manage/webhooks/${webhookId}/test`, {});
  // A module that answers requests, and one that handles events.
  await call("PUT", "/api/manage/secrets/VOTES", { value: "open sesame" });
  for (const [name, point, grants] of [
    ["votes", "endpoints", { scopes: ["economy:write", "deliveries:write", "chat:send"], secrets: ["VOTES"] }],
    ["daily-reward", "events", { scopes: ["events:read", "economy:write", "chat:send"] }],
  ]) {
    const body = readFileSync(`plugins/${name}/${name}.wasm`);
    const headers = { "X-Service-Api-Key": key, "Content-Type": "application/wasm" };
    let { version, state } = await (await fetch(`${url}/api/manage/modules?name=${name}`, { method: "POST", headers, body })).json();
    while (state === "COMPILING") ({ state } = await call("GET", `/api/manage/modules/${name}/${version}`));
    await call("PUT", `/api/manage/modules/${name}/activation`, { version, grants, points: { [point]: {} } });
  }
  return { player, webhookId, reportId };
}

// A container has no user for the sandbox.
const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const problems = [];
let seen = 0;

async function visit(context, view) {
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  // By time: a browser without a screen may draw no frame for long.
  const waitFor = page.waitForFunction.bind(page);
  page.waitForFunction = (check, options, ...args) => waitFor(check, { polling: 100, ...options }, ...args);
  page.waitForSelector = (selector) => page.waitForFunction((it) => document.querySelector(it) !== null, {}, selector);
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
async function look(page, view, path, name) {
  const answer = await page.goto(`${url}/console${path.startsWith("/") || !path ? path : `/${path}`}`, { waitUntil: "load" });
  await new Promise((resolve) => setTimeout(resolve, 150));
  const found = await page.evaluate(() => ({
    violations: globalThis.violations, title: document.title, main: Boolean(document.querySelector("main h1")),
    wide: document.documentElement.scrollWidth - innerWidth,
  }));
  const at = `${path || "/"} (${view.name})`;
  for (const violation of found.violations) problems.push(`${at}: ${violation}`);
  if (found.wide > 0) problems.push(`${at}: wider than the screen by ${found.wide}`);
  if (answer.status() < 400) {
    // Run by the debugger, which the page's policy does not bind.
    const session = await page.createCDPSession();
    await session.send("Runtime.evaluate", { expression: axe });
    await session.detach();
    const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
    for (const one of violations) {
      if (!["serious", "critical"].includes(one.impact)) continue;
      problems.push(`${at}: ${one.id}: ${one.nodes.slice(0, 2).map((node) => `${node.html.slice(0, 140)} | ${node.any[0]?.message ?? ""}`).join("; ")}`);
    }
  } else if (!path.includes("nothing")) problems.push(`${at}: ${answer.status()}`);
  if (!found.title || !found.main) problems.push(`${at}: no title or heading`);
  if (answer.status() >= 500) problems.push(`${at}: ${answer.status()}`);
  if (pictures && name) await page.screenshot({ path: join(pictures, `${name}-${view.name}.png`) });
  seen += 1;
}
async function signIn(page, email) {
  await page.goto(`${url}/console/sign-in`);
  await page.type("[name=email]", email);
  await page.type("[name=password]", password(email));
  await Promise.all([page.waitForNavigation(), page.click("form[action='/console/sign-in'] button[type=submit]")]);
  assert.ok(!new URL(page.url()).pathname.startsWith("/console/sign-in"), `${email} is signed in`);
}

// Work of people, from end to end.
async function journeys(player, webhookId, reportId) {
  const press = (page, selector) => Promise.all([page.waitForNavigation(), page.click(selector)]);
  const text = (page) => page.$eval("main", (main) => main.innerText);
  const open = async (email, view = views[0]) => {
    const context = await browser.createBrowserContext(), page = await visit(context, view);
    await signIn(page, email);
    return { context, page };
  };

  // A ban from a report, on a phone: three taps.
  const phone = await open("moderator@demo.example", views[1]);
  await phone.page.goto(`${url}/console/n/demo/reports`);
  await press(phone.page, "tbody th a");
  await press(phone.page, "form[action$='/punish'] button[type=submit]");
  assert.equal(new URL(phone.page.url()).pathname, "/console/n/demo/reports");
  const bans = await call("GET", `/api/plugin/punishments/player/${player}`);
  assert.ok(bans.some((ban) => ban.type === "BAN" && ban.issuerName === "Tobi"), JSON.stringify(bans));
  assert.equal((await call("GET", `/api/manage/reports/${reportId}`)).state, "CLOSED");
  // The appeal of another is accepted, and the mute is over.
  await phone.page.goto(`${url}/console/n/demo/appeals`);
  // Not under the bar at the bottom of a phone.
  await phone.page.$eval("input[name=decision][value=ACCEPT]", (choice) => choice.scrollIntoView({ block: "center" }));
  await phone.page.click("input[name=decision][value=ACCEPT]");
  await phone.page.type("textarea[name=answer]", "Welcome back.");
  await press(phone.page, "form[action$='/decide'] button[type=submit]");
  assert.equal((await call("GET", "/api/manage/appeals")).items[0].state, "ACCEPTED");
  await phone.context.close();

  // Two people edit one group at once: the second sees before, theirs and yours, and overwrites nothing unseen.
  // Each has a window: a page in the background of another is not clicked.
  const one = await open("owner@demo.example"), second = await open("owner@demo.example"), other = second.page;
  for (const page of [one.page, other]) await page.goto(`${url}/console/n/demo/permissions/vip`);
  await one.page.type("[name='node.2']", "kit.start");
  await press(one.page, "[data-apply]");
  await other.type("[name='node.2']", "kit.end");
  await press(other, "[data-apply]");
  assert.match(await text(other), /Somebody changed this group meanwhile/);
  assert.equal(await other.$eval("[name='node.2']", (field) => field.value), "kit.end");
  const group = await call("GET", "/api/plugin/permissions/groups/vip");
  assert.deepEqual(group.permissions.map((node) => node.node).sort(), ["essentials.fly", "group.member", "kit.start"]);
  await press(other, "[data-apply]");
  assert.ok((await call("GET", "/api/plugin/permissions/groups/vip")).permissions.some((node) => node.node === "kit.end"));
  await second.context.close();

  // A change is undone from the audit; an older one is a conflict first.
  await call("PUT", "/api/manage/economy/currencies/coins", { minimum: 5 });
  await call("PUT", "/api/manage/economy/currencies/coins", { minimum: 7 });
  await one.page.goto(`${url}/console/n/demo/audit?action=currency.put`);
  const undo = "form[action$='/audit/undo'] button";
  await press(one.page, undo);
  const minimum = async () => (await call("GET", "/api/manage/economy/currencies")).items.find((it) => it.currencyName === "coins").minimum;
  assert.equal(await minimum(), 5);

  // An import with errors, and then a trial that says what it leaves out.
  const file = join(process.env.TMPDIR ?? "/tmp", `import-${process.pid}.json`);
  writeFileSync(file, "not a list of bans");
  await one.page.goto(`${url}/console/n/demo/imports`);
  await one.page.select("[name=kind]", "VANILLA");
  await (await one.page.$("[name=file]")).uploadFile(file);
  await press(one.page, "form[action$='/imports/file'] button[type=submit]");
  await one.page.waitForFunction(() => /failed|is not|invalid|must|cannot/i.test(document.querySelector("main").innerText));
  writeFileSync(file, JSON.stringify([{ uuid: player, name: "Steve", created: "2026-01-01 00:00:00 +0000", source: "Server", expires: "forever", reason: "Griefing" }]));
  await one.page.goto(`${url}/console/n/demo/imports`);
  await one.page.select("[name=kind]", "VANILLA");
  await (await one.page.$("[name=file]")).uploadFile(file);
  await press(one.page, "form[action$='/imports/file'] button[type=submit]");
  assert.match(new URL(one.page.url()).pathname, /\/imports\/[A-Za-z0-9]+$/);
  await one.page.waitForFunction(() => /done/.test(document.querySelector("h1").innerText));

  // An inventory is restored: what the session before the last one left behind.
  const uuid = "069a79f4-44e9-4726-a5be-fca90e38aaf5", own = `/api/plugin/players/${uuid}/session`;
  for (const slots of [["pickaxe", "diamond"], ["pickaxe"]]) {
    const { fence } = await call("POST", own, { serverId: "lobby-eu" });
    await call("PUT", `${own}/${fence}`, { data: [{ namespace: "inventory", data: JSON.stringify({ slots }) }], close: true });
  }
  await one.page.goto(`${url}/console/n/demo/players/${uuid}/data`);
  await press(one.page, "a[href$='/data/global/inventory']");
  await press(one.page, "tbody tr:nth-child(2) th a");
  assert.match(await one.page.$eval(".diff", (lines) => lines.innerText), /diamond/);
  await one.page.type("form[action$='/restore'] [name=confirm]", "inventory");
  await press(one.page, "form[action$='/restore'] button[type=submit]");
  const stored = await call("GET", `/api/plugin/players/${uuid}/data/global/inventory`);
  assert.deepEqual(JSON.parse(stored.data), { slots: ["pickaxe", "diamond"] });

  // A module is uploaded and becomes the canary of a chain for a tenth of the players, beside a shadow whose answers are compared; both are
  // taken back with the chains before.
  const chain = async () => (await call("GET", "/api/manage/extension-points/chat")).modules.map((link) => `${link.name} ${link.mode} ${link.percent}`);
  const chainBefore = await chain();
  const rollBack = async () => {
    await one.page.goto(`${url}/console/n/demo/modules`);
    one.page.once("dialog", (dialog) => dialog.accept());
    await press(one.page, "form[action$='/modules/rollback/chat'] button[type=submit]");
  };
  const add = async (mode, percent) => {
    await one.page.goto(`${url}/console/n/demo/modules/chains/chat`);
    await one.page.select("[name=add]", "slow-mode-2");
    await one.page.select("[name=addMode]", mode);
    await one.page.$eval("[name=addPercent]", (field, percent) => { field.value = percent; }, percent);
    await press(one.page, "[data-apply]");
  };
  await one.page.goto(`${url}/console/n/demo/modules`);
  await one.page.type("form[enctype] [name=name]", "slow-mode-2");
  await (await one.page.$("form[enctype] [name=file]")).uploadFile("plugins/slow-mode/slow-mode.wasm");
  await press(one.page, "form[enctype] button[type=submit]");
  assert.equal(new URL(one.page.url()).pathname, "/console/n/demo/modules/slow-mode-2");
  await add("CANARY", "10");
  assert.deepEqual(await chain(), [...chainBefore, "slow-mode-2 CANARY 10"]);
  await rollBack();
  assert.deepEqual(await chain(), chainBefore);
  await add("SHADOW", "100");
  const sender = "11111111-1111-4111-8111-111111111111";
  for (let at = 0; at < 40; at += 1) {
    const answer = await fetch(`${url}/api/plugin/chat`, { method: "POST", headers: { "X-Service-Api-Key": key, "Content-Type": "application/json" },
      body: JSON.stringify({ serverId: "lobby-eu", playerUuid: sender, playerName: "Quick", serverType: "lobby", message: `the same ${at % 2}` }) });
    await answer.text();
  }
  await one.page.goto(`${url}/console/n/demo/modules/chains/chat/differences`);
  assert.match(await text(one.page), /slow-mode-2/);
  await one.page.waitForFunction(async () => {
    const page = await fetch(location.href).then((answer) => answer.text());
    return /chains\/chat\/calls\/[\w.-]+"/.test(page);
  });
  await one.page.reload();
  assert.ok(await one.page.$("main section.panel header a.mono"), "a difference is shown");
  await rollBack();
  assert.deepEqual(await chain(), chainBefore);

  // A match is explained; a role of one's own is made, given to an invited one; a plugin is uploaded; a webhook's secret changes.
  await one.page.goto(`${url}/console/n/demo/find`);
  await one.page.type("[name=serverType]", "lobby");
  await press(one.page, "form[action$='/find'] button[type=submit]");
  assert.match(await text(one.page), /lobby-eu/);
  await one.page.goto(`${url}/console/n/demo/staff/roles`);
  await one.page.type("[name=name]", "judge");
  await one.page.click("[name=scopes][value='punishments:manage']");
  await press(one.page, "form[action$='/staff/roles'] button[type=submit]");
  assert.deepEqual((await call("GET", "/api/manage/roles/judge")).scopes, ["punishments:manage"]);
  await one.page.goto(`${url}/console/n/demo/staff`);
  assert.ok(await one.page.$("input[name=role][value=judge]"), "the role can be given");
  const jar = join(process.env.TMPDIR ?? "/tmp", `plugin-${process.pid}.jar`);
  writeFileSync(jar, "bytes");
  await one.page.goto(`${url}/console/n/demo/artifacts`);
  await one.page.type("form[enctype] [name=name]", "judge-plugin");
  await one.page.type("form[enctype] [name=version]", "1.0");
  await (await one.page.$("form[enctype] [name=file]")).uploadFile(jar);
  await press(one.page, "form[enctype] button[type=submit]");
  assert.match(await text(one.page), /judge-plugin/);
  await one.page.goto(`${url}/console/n/demo/webhooks/${webhookId}/deliveries/1`);
  await press(one.page, "form[action$='/preview'] button[type=submit]");
  assert.match(await text(one.page), /As it would be sent now/);
  await one.page.goto(`${url}/console/n/demo/webhooks/${webhookId}`);
  await press(one.page, "form[action$='/rotate'] button[type=submit]");
  assert.match(await text(one.page), /whsec_/);
  // All of a player as a file.
  const saved = await one.page.evaluate(async (address) => {
    const answer = await fetch(address);
    return [answer.headers.get("content-disposition"), Object.keys(await answer.json())];
  }, `/console/n/demo/players/${player}/export`);
  assert.ok(saved[0].startsWith("attachment") && saved[1].includes("tables"), JSON.stringify(saved));
  // A browser that only reads offers nothing else, until it is switched off.
  await one.page.goto(`${url}/console/n/demo/keys`);
  await one.page.$eval("form[action$='/reading-only'] button", (button) => button.click());
  await one.page.waitForSelector("body.locked");
  assert.equal(await one.page.$eval("main form[method=post]", (form) => getComputedStyle(form).display), "none");
  await press(one.page, "form.reading button");
  assert.equal(await one.page.$("body.locked"), null);

  // A call is explained, and asked of a version again; the last hundred, too.
  await one.page.goto(`${url}/console/n/demo/modules/chains/matchmaking/calls`);
  await press(one.page, "tbody th a");
  await press(one.page, "main section form button[type=submit]");
  assert.ok(await one.page.$(".diff ins"), "a call is replayed");
  await one.page.goto(`${url}/console/n/demo/modules/region-first/replay`);
  await press(one.page, "form[action$='/replay'] button[type=submit]");
  assert.match(await text(one.page), /Same answer/);

  // A server is connected: a key of its own, and a light that turns green by itself.
  await one.page.goto(`${url}/console/n/demo/servers/connect`);
  for (const [field, value] of [["serverId", "garden-1"], ["serverType", "garden"]]) {
    await one.page.$eval(`[name=${field}]`, (input, value) => { input.value = value; }, value);
  }
  await press(one.page, "form[action$='/servers/connect'] button[type=submit]");
  const made = /hub_[A-Za-z0-9]+_[A-Za-z0-9_]+/.exec(await text(one.page))[0];
  await one.page.waitForSelector("#light .dot.warn");
  const server = { serverId: "garden-1", serverType: "garden", host: "127.0.0.1", port: 25565, maxPlayers: 100 };
  const registered = await fetch(`${url}/api/plugin/servers/register`, {
    method: "POST", headers: { "X-Service-Api-Key": made, "Content-Type": "application/json" }, body: JSON.stringify(server),
  });
  assert.equal(registered.status, 201);
  await one.page.waitForSelector("#light .dot.good");
  await one.context.close();

  // The operator suspends a network and resumes it; its name has to be typed.
  const operator = await open("operator@demo.example");
  for (const suspended of [true, false]) {
    await operator.page.goto(`${url}/console/hub`);
    await operator.page.$eval("form[action$='/suspend']", (form) => { form.closest("details").open = true; });
    await operator.page.type("form[action$='/suspend'] [name=confirm]", "demo");
    await press(operator.page, "form[action$='/suspend'] button[type=submit]");
    const answer = await fetch(`${url}/api/manage/keys`, { headers: { "X-Service-Api-Key": key } });
    assert.equal(answer.status === 403, suspended, `suspended: ${answer.status}`);
  }
  await operator.context.close();
}

try {
  const { player, webhookId, reportId } = await fill();
  for (const view of views) {
    const context = await browser.createBrowserContext();
    const page = await visit(context, view);
    for (const path of doors) await look(page, view, path);
    await signIn(page, "owner@demo.example");
    for (const path of network) await look(page, view, `/n/demo${path.replace(/^PLAYER/, `/players/${player}`).replace(/^WEBHOOK/, `/webhooks/${webhookId}`)}`, shown[path]);
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

  await context.close();

  await journeys(player, webhookId, reportId);
  assert.deepEqual(problems, []);
  console.log(`console: ${seen} pages and the work of a moderator, an owner and the operator without a violation`);
} finally {
  await browser.close();
}
