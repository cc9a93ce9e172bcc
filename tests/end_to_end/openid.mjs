// Signs a person in at the hub with a real OpenID provider, like a browser does: follows the link of an invitation's
// mail, fills in the provider's forms, and comes back.
// Arguments: the hub's URL and its public one, the provider's port, the hub's outbox, and an owner's key.
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

// It warns that this configuration is for tests only.
console.warn = console.info = () => {};
const { Provider } = await import("oidc-provider");

const [hub, publicUrl, port, outbox, key] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
const email = "alex@example.org";

const provider = new Provider(issuer, {
  clients: [{ client_id: "hub", client_secret: "secret", redirect_uris: [`${publicUrl}/api/people/openid/callback`] }],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, email, email_verified: true, name: "Alex" }) }),
});
const server = provider.listen(Number(port), "127.0.0.1");

// The cookies of each origin.
const jars = new Map();

// Requests of a browser to the hub's public address arrive by a proxy.
async function visit(url, options = {}) {
  url = url.replace(publicUrl, hub);
  const jar = jars.get(new URL(url).origin) ?? new Map();
  jars.set(new URL(url).origin, jar);
  const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
  const response = await fetch(url, { redirect: "manual", ...options, headers: { cookie, ...options.headers } });
  for (const set of response.headers.getSetCookie()) {
    const [name, value] = set.split(";")[0].split(/=(.*)/s);
    value ? jar.set(name, value) : jar.delete(name);
  }
  return response;
}

// Follows redirects and fills in the provider's forms, until the hub answers; `end` is the browser's final target.
async function walk(url, end) {
  const seen = [];
  for (let step = 0; step < 20; step++) {
    const response = await visit(url);
    const location = response.headers.get("location");
    if (location === end) return { seen };
    if (location) {
      url = new URL(location, url).href;
      continue;
    }
    const text = await response.text();
    assert.equal(response.status, 200, `${url}: ${text}`);
    if (!url.startsWith(issuer)) return { seen, answer: JSON.parse(text) };
    const [, action] = text.match(/<form[^>]*action="([^"]+)"/);
    const [, prompt] = text.match(/name="prompt" value="([^"]+)"/);
    seen.push(prompt);
    const body = new URLSearchParams({ prompt, login: "account-7", password: "any" });
    const sent = await visit(new URL(action, url).href, { method: "POST", body });
    url = new URL(sent.headers.get("location"), url).href;
  }
  assert.fail(`no end of redirects: ${url}`);
}

async function invitation() {
  const headers = { "X-Service-Api-Key": key, "Content-Type": "application/json" };
  const body = JSON.stringify({ email, role: "ADMIN" });
  const invited = await fetch(`${hub}/api/manage/people`, { method: "POST", headers, body });
  assert.equal(invited.status, 201, await invited.text());
  for (let attempt = 0; attempt < 100; attempt++) {
    const [mail] = (await readdir(outbox).catch(() => [])).filter((name) => name.endsWith(".eml"));
    if (mail) {
      const text = (await readFile(`${outbox}/${mail}`, "utf8")).replaceAll("=\r\n", "").replaceAll("=3D", "=");
      return text.match(/\S+\/openid\/sign-in\?invitation=\w+/)[0];
    }
    await sleep(100);
  }
  assert.fail("no mail");
}

try {
  const first = await walk(await invitation());
  assert.deepEqual(first.seen, ["login", "consent"]);
  assert.equal(first.answer.person.email, email);
  const read = async () => (await visit(`${hub}/api/people/me`)).json();
  const me = await read();
  assert.deepEqual([me.email, me.name, me.hasPassword, me.networks[0].role], [email, "Alex", false, "ADMIN"]);
  // Another browser, on its way to a page.
  jars.clear();
  assert.equal((await visit(`${hub}/api/people/me`)).status, 401);
  await walk(`${publicUrl}/api/people/openid/sign-in?return=/console`, `${publicUrl}/console`);
  assert.equal((await read()).personId, me.personId);
  console.log(`openid: ${me.email} signed in with a real provider, first by an invitation`);
} finally {
  server.closeAllConnections();
  server.close();
}
