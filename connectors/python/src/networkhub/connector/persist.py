"""Repeats calls for as long as the hub is away."""

from __future__ import annotations

import asyncio
import itertools
import logging
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar
from uuid import UUID

from .._transport import RetryPolicy
from ..errors import HubError

T = TypeVar("T")
LOG = logging.getLogger("networkhub")

_DELAYS = RetryPolicy(first_delay=0.5, max_delay=5.0)


async def persist(call: Callable[[], Awaitable[T]], patience: float = math.inf) -> T:
    """The call's first answer that is no transient error, or its last error when so many seconds are over."""
    deadline = time.monotonic() + patience
    for attempt in itertools.count(1):
        try:
            return await call()
        except HubError as error:
            delay = _DELAYS.delay(attempt) if error.retry_after is None else error.retry_after
            if not error.is_transient or time.monotonic() + delay >= deadline:
                raise
        await asyncio.sleep(delay)
    raise AssertionError("unreachable: the loop has no end")


class RefreshQueue:
    """Players whose cached state has to be read again: one at a time, so that a change that concerns everybody is no rush."""

    def __init__(self, refresh: Callable[[UUID], Awaitable[object]]) -> None:
        self._refresh = refresh
        self._waiting: deque[UUID] = deque()
        self._added = asyncio.Event()

    def add(self, player: UUID) -> None:
        """Adds a player, who may be waiting already."""
        if player not in self._waiting:
            self._waiting.append(player)
        self._added.set()

    def add_all(self, players: Iterable[UUID]) -> None:
        """Adds several players."""
        for player in players:
            self.add(player)

    async def run(self) -> None:
        """Reads without end."""
        while True:
            await self._added.wait()
            self._added.clear()
            while self._waiting:
                player = self._waiting.popleft()
                try:
                    await persist(lambda player=player: self._refresh(player))  # type: ignore[misc]
                except HubError as error:
                    LOG.warning("Reading the state of player %s failed: %s", player, error)
                except Exception:
                    LOG.exception("Reading the state of player %s failed", player)


async def cancel_all(tasks: Iterable[asyncio.Future[Any]]) -> None:
    """Cancels tasks and waits for their ends."""
    pending = set(tasks)
    # Again, because before Python 3.12 a task whose wait_for is just over misses it.
    for _ in range(5):
        for task in pending:
            task.cancel()
        if pending:
            _, pending = await asyncio.wait(pending, timeout=1.0)
