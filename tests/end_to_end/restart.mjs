// A page that is open while its hub is killed and started again: it says so, loses nothing that is typed, and is live again by itself.
// Arguments: the hub's binary, a free port, and a folder for its data.
import puppeteer from "puppeteer-core";
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

const [binary, port, data] = process.argv.slice(2);
const url = `http://127.0.0.1:${port}`;

// Starts the hub, and resolves once it has said all. The demo gives its people new passwords, which ends their sessions: only the
// first start is one.
async function start(command, isReady) {
  const hub = spawn(binary, [command, "--listen", `127.0.0.1:${port}`, "--data", data], { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, HUB_LOG: "warn" } });
  let said = "";
  for await (const line of createInterface(hub.stdout)) {
    said += `${line}\n`;
    if (isReady(said)) break;
  }
  hub.stdout.resume();
  return { hub, said };
}
async function kill({ hub }) {
  // One that has ended says so no more, and what failed before would never be told.
  if (hub.exitCode !== null || hub.signalCode !== null) return;
  hub.kill("SIGKILL");
  await once(hub, "exit");
}

const listens = (said) => /^listening on /m.test(said), account = /owner@demo\.example\s+(\S+)/;
let running = await start("demo", (said) => listens(said) && account.test(said));
const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  const page = await browser.newPage();
  page.setDefaultTimeout(120_000);
  await page.goto(`${url}/console/sign-in`);
  await page.type("[name=email]", "owner@demo.example");
  await page.type("[name=password]", account.exec(running.said)[1]);
  await Promise.all([page.waitForNavigation(), page.click("form[action='/console/sign-in'] button[type=submit]")]);
  // By time: a browser without a screen may draw no frame for long.
  const shows = (selector) => page.waitForFunction((it) => document.querySelector(it) !== null, { polling: 100 }, selector);
  await page.goto(`${url}/console/n/demo/servers`);
  await shows("#live .dot.good");
  await page.type("input[type=search]", "lob");
  const typed = () => page.$eval("input[type=search]", (field) => field.value);
  const before = await typed();

  await kill(running);
  await shows("#live .dot.warn, #live .dot.bad");
  running = await start("serve", listens);
  await shows("#live .dot.good");
  assert.equal(await typed(), before);
  // The session outlived the hub.
  await page.goto(`${url}/console/n/demo`);
  assert.equal(new URL(page.url()).pathname, "/console/n/demo");
  console.log("restart: an open page was live again after its hub was killed");
} finally {
  await browser.close();
  await kill(running);
}
