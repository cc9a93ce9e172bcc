"""Verifies a TRANSFER event of the network hub. Python 3, standard library only.

In a connector, keep one TransferVerifier for as long as the server runs and hand it the `data:` of each TRANSFER
event, and of each SIGNING_SECRET_ROTATED event. As a program it reads one TRANSFER from standard input:

    HUB_SIGNING_SECRET=... python3 verify_transfer.py [NOW_MS] < event.json
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import time


class TransferVerifier:
    def __init__(self, signing_secret):
        # The secret of the register answer; its UTF-8 bytes are the key. Each with the time until which it is good.
        self.secrets = {signing_secret: None}
        # Transfers that were acted upon, each until its command has expired.
        self.seen = {}

    def rotated(self, event):
        """Takes the new secret of a SIGNING_SECRET_ROTATED event; those before it are good until its `validUntil`."""
        until = event["validUntil"]
        self.secrets = {old: until if end is None else min(end, until) for old, end in self.secrets.items()}
        self.secrets[event["signingSecret"]] = None

    def refusal(self, command, now_ms=None):
        """Why the command must not be obeyed; None if it may be."""
        now_ms = int(time.time() * 1000) if now_ms is None else now_ms
        text = ".".join([
            command["transferId"],
            command["playerUuid"],
            command["targetServerId"],
            command.get("targetWorldId") or "",
            command["host"],
            str(command["port"]),
            str(command["expiresAt"]),
        ])
        self.secrets = {secret: end for secret, end in self.secrets.items() if end is None or now_ms < end}
        # While the hub changes its secret a command carries several signatures; one that is right is enough.
        # Compared in constant time, so that a forger learns nothing from how long it takes.
        right = [
            hmac.compare_digest(self.signature(secret, text).encode(), signature.encode())
            for secret in self.secrets
            for signature in command["signature"].split(" ")
        ]
        if not any(right):
            return "the signature is wrong"
        if command["expiresAt"] <= now_ms:
            return "the command has expired"
        self.seen = {id: until for id, until in self.seen.items() if until > now_ms}
        if command["transferId"] in self.seen:
            return "the command was used already"
        self.seen[command["transferId"]] = command["expiresAt"]
        return None

    @staticmethod
    def signature(secret, text):
        mac = hmac.new(secret.encode("utf-8"), text.encode("utf-8"), hashlib.sha256).digest()
        return "v1," + base64.b64encode(mac).decode("ascii")


if __name__ == "__main__":
    verifier = TransferVerifier(os.environ["HUB_SIGNING_SECRET"])
    now = int(sys.argv[1]) if len(sys.argv) > 1 else None
    refusal = verifier.refusal(json.load(sys.stdin), now)
    print(refusal or "ok")
    sys.exit(1 if refusal else 0)
