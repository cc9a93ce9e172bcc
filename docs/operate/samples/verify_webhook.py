"""A receiver of the network hub's webhooks. Python 3, standard library only.

    HUB_WEBHOOK_SECRET=whsec_... python3 verify_webhook.py PORT
"""

import base64
import hashlib
import hmac
import http.server
import json
import os
import sys
import time

TOLERANCE_SECONDS = 300


def verify(secret, headers, body, now=None):
    """The event in a request's body (bytes); ValueError where the request is not the hub's, or is an old one."""
    timestamp = headers["webhook-timestamp"]
    if abs((time.time() if now is None else now) - int(timestamp)) > TOLERANCE_SECONDS:
        raise ValueError("the request is too old")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    # While a secret is being replaced there are several; one that is right is enough.
    signatures = headers["webhook-signature"].split(" ")
    if not any(hmac.compare_digest(expected.encode(), signature.encode()) for signature in signatures):
        raise ValueError("the signature is wrong")
    return json.loads(body)


class Receiver(http.server.BaseHTTPRequestHandler):
    # In a database where there are several receivers, or where they restart.
    seen = set()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            event = verify(os.environ["HUB_WEBHOOK_SECRET"], self.headers, body)
        except ValueError as error:
            return self.answer(400, str(error))
        # A message may come again: it is the same while its id is.
        if self.headers["webhook-id"] not in self.seen:
            self.seen.add(self.headers["webhook-id"])
            print(event["type"], json.dumps(event["data"]), flush=True)
        self.answer(200, "ok")

    def answer(self, status, text):
        self.send_response(status)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *arguments):
        pass


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer((os.environ.get("HOST", "127.0.0.1"), int(sys.argv[1])), Receiver)
    print("listening on", server.server_address[1], flush=True)
    server.serve_forever()
