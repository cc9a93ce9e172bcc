// A receiver of the network hub's webhooks. Node.js, no packages.
//
//     HUB_WEBHOOK_SECRET=whsec_... node verify_webhook.mjs PORT

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const TOLERANCE_SECONDS = 300;

/** The event in a request's body (a Buffer); throws where the request is not the hub's, or is an old one. */
export function verify(secret, headers, body, now = Date.now() / 1000) {
  const timestamp = headers["webhook-timestamp"];
  if (!(Math.abs(now - Number(timestamp)) <= TOLERANCE_SECONDS)) throw new Error("the request is too old");
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const mac = createHmac("sha256", key).update(`${headers["webhook-id"]}.${timestamp}.`).update(body);
  const expected = Buffer.from(`v1,${mac.digest("base64")}`);
  // While a secret is being replaced there are several; one that is right is enough.
  const signatures = headers["webhook-signature"].split(" ").map((signature) => Buffer.from(signature));
  const isRight = (signature) => signature.length === expected.length && timingSafeEqual(signature, expected);
  if (!signatures.some(isRight)) throw new Error("the signature is wrong");
  return JSON.parse(body);
}

// In a database where there are several receivers, or where they restart.
const seen = new Set();

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    const event = verify(process.env.HUB_WEBHOOK_SECRET, request.headers, Buffer.concat(chunks));
    // A message may come again: it is the same while its id is.
    if (!seen.has(request.headers["webhook-id"])) {
      seen.add(request.headers["webhook-id"]);
      console.log(event.type, JSON.stringify(event.data));
    }
    response.writeHead(200).end("ok");
  } catch (error) {
    response.writeHead(400).end(error.message);
  }
});
if (process.argv[2]) server.listen(Number(process.argv[2]), process.env.HOST ?? "127.0.0.1", () => {
  console.log("listening on", server.address().port);
});
