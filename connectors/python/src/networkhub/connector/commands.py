"""Console commands that the hub asks for."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable

from ..client import AsyncHubClient
from ..models import ConsoleCommandOrder
from .clock import HubClock
from .game import GameServer, call_game
from .persist import persist

LOG = logging.getLogger("networkhub")

_TOO_BUSY = "The server's main thread did not get to it in time; it was not run."


class CommandRunner:
    """Runs console commands and answers them. Never runs one whose caller has timed out."""

    def __init__(self, client: AsyncHubClient, game: GameServer, clock: HubClock) -> None:
        self._client = client
        self._game = game
        self._clock = clock

    async def run(self, command: ConsoleCommandOrder, sent_at: int) -> None:
        """Runs a command that came with the stream."""
        left = (sent_at + command.timeout_ms - self._clock.now()) / 1000
        if left <= 0:
            LOG.info("A console command came too late and was not run")
            return
        # Its first taker reports: the main thread, or the clock.
        claim = threading.Lock()

        def begin() -> Awaitable[str] | str:
            if not claim.acquire(blocking=False):
                raise TimeoutError(_TOO_BUSY)
            return self._game.run_command(command.command)

        running = asyncio.ensure_future(call_game(self._game, begin))
        await asyncio.wait([running], timeout=left * 0.9)
        if not running.done() and claim.acquire(blocking=False):
            running.cancel()
            await self._answer(command, False, error=_TOO_BUSY)
            return
        try:
            output = await running
        except Exception as failure:
            await self._answer(command, False, error=str(failure) or type(failure).__name__)
        else:
            await self._answer(command, True, output=output)

    async def _answer(
        self, command: ConsoleCommandOrder, success: bool, *, output: str | None = None, error: str | None = None
    ) -> None:
        report = self._client.servers.report_command
        await persist(lambda: report(command.request_id, success, output, error), command.timeout_ms / 1000)
