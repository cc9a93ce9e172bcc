"""Transfer commands: verifying, carrying out, asking for them."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import logging
import math
import threading
import time
from collections.abc import Callable
from uuid import UUID

from .._call import new_key
from ..client import AsyncHubClient
from ..models import SignedTransferCommand, TransferOutcome
from .clock import HubClock
from .game import GameServer, call_game
from .persist import persist

LOG = logging.getLogger("networkhub")

_COMMAND_TTL_MS = 30_000
"""Lifetime of commands; one that was signed just before a change of the secret may still arrive."""


def sign(secret: str, text: str) -> str:
    """The signature of a text."""
    digest = hmac.new(secret.encode(), text.encode(), hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode()


def signed_text(command: SignedTransferCommand) -> str:
    """Returns the signed text of a command."""
    world = command.target_world_id or ""
    parts = [command.transfer_id, command.player_uuid, command.target_server_id, world, command.host, command.port]
    return ".".join(str(part) for part in [*parts, command.expires_at])


class TransferVerifier:
    """Verifies transfer commands: at the server a player is on (the connector does it), and at one that is handed a command.

    Keep one for as long as the server runs: it remembers which commands were used. May be used by several threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._secrets: dict[str, float] = {}
        """The secrets that are good, each until a time."""
        self._used: dict[UUID, int] = {}
        """The transfers that were carried out, each until its command has expired."""
        self._replaced_until: float | None = None
        """While a registration is under way: the end of the secrets before the changes that were told since."""

    def registering(self) -> None:
        """Begins a registration: a change of the secret that is told before its answer is newer than the answer."""
        with self._lock:
            self._replaced_until = math.inf

    def set_secret(self, signing_secret: str, now_ms: int) -> None:
        """Takes the secret of an answer to a registration. Another one than before replaces it, after 30 seconds."""
        with self._lock:
            replaced_until, self._replaced_until = self._replaced_until, None
            if replaced_until is not None and replaced_until != math.inf:
                self._secrets.setdefault(signing_secret, replaced_until)
            elif self._secrets.get(signing_secret) != math.inf:
                self._replace(signing_secret, now_ms + _COMMAND_TTL_MS)

    def rotate(self, signing_secret: str, valid_until: int) -> None:
        """Takes the new secret of SIGNING_SECRET_ROTATED; those before it are good until then, in milliseconds."""
        with self._lock:
            self._replace(signing_secret, valid_until)
            if self._replaced_until is not None:
                self._replaced_until = min(self._replaced_until, valid_until)

    def _replace(self, signing_secret: str, valid_until: int) -> None:
        self._secrets = {old: min(until, valid_until) for old, until in self._secrets.items()}
        self._secrets[signing_secret] = math.inf

    def refusal(self, command: SignedTransferCommand, now_ms: int) -> str | None:
        """Returns the reason to refuse a command; None if it may be obeyed, and then it counts as used.

        `now_ms` is the time by the hub's clock, in milliseconds since the epoch.
        """
        with self._lock:
            self._secrets = {secret: until for secret, until in self._secrets.items() if until > now_ms}
            self._used = {transfer: until for transfer, until in self._used.items() if until > now_ms}
            if not self._is_signed(command):
                return "the signature is wrong"
            if command.expires_at <= now_ms:
                return "the command has expired"
            if command.transfer_id in self._used:
                return "the command was used already"
            self._used[command.transfer_id] = command.expires_at
            return None

    def _is_signed(self, command: SignedTransferCommand) -> bool:
        """While the secret changes a command carries several signatures; one that is right is enough."""
        text = signed_text(command)
        expected = [sign(secret, text).encode() for secret in self._secrets]
        signatures = [signature.encode() for signature in command.signature.split(" ")]
        # All of them in constant time, so that a forger learns nothing from how long it takes.
        matches = [hmac.compare_digest(each, signature) for each in expected for signature in signatures]
        return any(matches)


class TransferHandler:
    """Carries out transfer commands, and asks for transfers."""

    def __init__(
        self,
        client: AsyncHubClient,
        game: GameServer,
        clock: HubClock,
        verifier: TransferVerifier,
        is_here: Callable[[UUID], bool],
        is_joining: Callable[[UUID], bool],
    ) -> None:
        self._client = client
        self._game = game
        self._clock = clock
        self._verifier = verifier
        self._is_here = is_here
        self._is_joining = is_joining

    async def carry_out(self, command: SignedTransferCommand) -> None:
        """Carries out a command that came with the stream."""
        refusal = self._verifier.refusal(command, self._clock.now())
        if refusal is not None:
            LOG.warning("Transfer %s is refused: %s", command.transfer_id, refusal)
        elif not self._is_here(command.player_uuid):
            await self._fail(command, "The player is not on this server.")
        else:
            try:
                await call_game(self._game, lambda: self._game.transfer_player(command.player_uuid, command))
            except Exception as failure:
                await self._fail(command, str(failure) or type(failure).__name__)

    async def _fail(self, command: SignedTransferCommand, message: str) -> None:
        report = self._client.transfers.report
        await persist(lambda: report(command.transfer_id, command.player_uuid, "FAILED", message), _COMMAND_TTL_MS / 1000)

    async def ask(self, player: UUID, server_id: str, world_id: str | None, patience: float) -> TransferOutcome:
        """Asks for a transfer.

        For as long as there is patience while the hub is away, the player's server is reconnecting, or the hub is only being told
        that the player is here.
        """
        deadline = time.monotonic() + patience
        while True:
            while self._is_joining(player) and time.monotonic() < deadline:
                await asyncio.sleep(0.1)
            left = max(0.0, deadline - time.monotonic())
            key = new_key()
            outcome = await persist(
                lambda key=key: self._client.transfers.transfer(  # type: ignore[misc]
                    player, server_id, world_id, idempotency_key=key
                ),
                left,
            )
            if not self._is_passing(player, outcome) or time.monotonic() >= deadline:
                return outcome
            await asyncio.sleep(1.0)

    def _is_passing(self, player: UUID, outcome: TransferOutcome) -> bool:
        if outcome.result == "PLAYER_OFFLINE":
            return self._is_here(player)
        return outcome.result == "NOT_CONNECTED"
