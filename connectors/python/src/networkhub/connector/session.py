"""The server's presence at the hub: registration, heartbeats and the changes of players."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from uuid import UUID

from .._transport import NO_RETRIES, RetryPolicy
from ..api.servers import ServerState
from ..client import AsyncHubClient
from ..errors import HubError
from ..models import HeartbeatPlayer, ServerRegistration, ServerSession
from .outbox import ChangeKind, PlayerChange, PlayerOutbox
from .persist import persist

LOG = logging.getLogger("networkhub")

_DELAYS = RetryPolicy(first_delay=0.25, max_delay=5.0)
_TIMEOUT = 5.0
"""Short, so that several heartbeats fit in before the hub takes the server for offline."""
_OUTBOX_CAPACITY = 20_000
_RECENT = 2.0
"""A visit that is older may be over because the player is on another server by now."""
_STATE_DELAY = 0.2
"""From a change of state to the heartbeat that reports it, so that several changes are one."""


class Session:
    """One request at a time, so that the hub sees everything in the order it happened."""

    def __init__(
        self,
        client: AsyncHubClient,
        info: ServerRegistration,
        state: ServerState,
        on_registering: Callable[[], None],
        on_registered: Callable[[ServerSession], None],
        spawn: Callable[[Awaitable[object], str], object],
    ) -> None:
        # Repeats are made here, where their order is known.
        self._client = client.with_options(retry=NO_RETRIES, timeout=_TIMEOUT)
        self._info = info
        self._state = state
        self._on_registering = on_registering
        self._on_registered = on_registered
        self._spawn = spawn
        self._outbox = PlayerOutbox(_OUTBOX_CAPACITY)
        self._reported: dict[UUID, str | None] = {}
        """Players that were reported to the hub."""
        self._failures = 0
        self._interval = 5.0
        self._next_beat = time.monotonic()
        self._wake = asyncio.Event()
        self._is_stopping = False
        self._must_register = True
        self.is_registered = False
        """True if the server is registered."""
        self.last_error: HubError | None = None
        """Last error; None while there is none."""

    @property
    def is_away(self) -> bool:
        """True if the latest requests failed."""
        return self._failures > 0

    @property
    def pending_changes(self) -> int:
        """Number of changes that the hub has not confirmed."""
        return len(self._outbox)

    def concerns(self, player: UUID) -> bool:
        """True if a change of the player is pending."""
        return self._outbox.concerns(player)

    def add(self, change: PlayerChange) -> None:
        """Something a player did."""
        if self._is_stopping:
            return
        dropped = self._outbox.add(change)
        if dropped:
            LOG.warning("The hub was away for so long that %d changes of players were dropped", dropped)
        self._wake.set()

    def set_state(self, state: ServerState) -> None:
        """Reports another state soon."""
        self._state = state
        self._next_beat = min(self._next_beat, time.monotonic() + _STATE_DELAY)
        self._wake.set()

    def register_again(self) -> None:
        """Registers again, to learn of changes since."""
        self._must_register = True
        self._wake.set()

    def stop(self) -> None:
        """Ends `run` when all changes are reported."""
        self._is_stopping = True
        self._wake.set()

    async def unregister(self) -> None:
        """Takes the server offline."""
        await self._client.servers.unregister(self._info.server_id)

    async def run(self) -> None:
        """Keeps the server online until it is stopped."""
        while True:
            now = time.monotonic()
            delay = 0.0
            if self._must_register:
                delay = await self._attempt(self._register)
            elif self._outbox and now < self._next_beat + self._interval:
                delay = await self._attempt(self._report)
            elif self._is_stopping and not self._outbox:
                return
            elif now >= self._next_beat:
                delay = await self._attempt(self._beat)
            else:
                await self._wait(self._next_beat - now)
            if delay:
                await asyncio.sleep(delay)

    async def _wait(self, seconds: float) -> None:
        self._wake.clear()
        try:
            await asyncio.wait_for(self._wake.wait(), seconds)
        except asyncio.TimeoutError:
            pass

    async def _attempt(self, request: Callable[[], Awaitable[None]]) -> float:
        """Sends a request; returns the wait before the next one."""
        try:
            await request()
        except HubError as error:
            return self._failed(error)
        except Exception as failure:
            LOG.exception("A request of the connector failed")
            return self._failed(HubError("client_error", str(failure) or type(failure).__name__))
        if self._failures:
            LOG.info("The hub answers again; %d changes of players to report", len(self._outbox))
        self._failures = 0
        self.last_error = None
        return 0.0

    def _failed(self, error: HubError) -> float:
        if error.code == "unknown_server" and self.is_registered:
            self.is_registered = False
            self._must_register = True
            return 0.0
        self._failures += 1
        self.last_error = error
        if self._failures == 1:
            LOG.warning("The hub cannot be told of this server: %s", error)
        return _DELAYS.delay(self._failures) if error.retry_after is None else error.retry_after

    async def _register(self) -> None:
        # First, so that a call of register_again meanwhile counts.
        self._must_register = False
        self._on_registering()
        try:
            registered = await self._client.servers.register(self._info, self._state)
        except Exception:
            self._must_register = True
            raise
        self.is_registered = True
        self._interval = max(1, registered.heartbeat_interval_ms) / 1000
        self._next_beat = time.monotonic()
        self._on_registered(registered)

    async def _beat(self) -> None:
        players = [HeartbeatPlayer(uuid=player, name=name) for player, name in self._reported.items()]
        self._next_beat = time.monotonic() + self._interval
        try:
            await self._client.servers.heartbeat(self._info.server_id, self._state, players)
        except HubError:
            self._next_beat = time.monotonic()
            raise

    async def _report(self) -> None:
        change = self._outbox.peek()
        leave = self._outbox.end_of(change) if change.kind is ChangeKind.JOIN else None
        try:
            if leave is not None and time.monotonic() - change.made_at > _RECENT and await self._is_elsewhere(change):
                self._report_past_visit(change, leave)
                return
            await self._send(change)
        except HubError as error:
            if error.code == "unknown_server":
                change.renew_key()
            if error.code == "unknown_server" or is_passing(error):
                raise
            if error.code != "answer_not_kept":
                self._refused(change, error)
                return
        except (TypeError, ValueError) as error:
            # A change that cannot be written as JSON must not hold up the others.
            self._refused(change, error)
            return
        self._confirm(change)

    async def _send(self, change: PlayerChange) -> None:
        servers, server_id = self._client.servers, self._info.server_id
        if change.kind is ChangeKind.JOIN:
            await servers.join(server_id, change.player, change.name, idempotency_key=change.key)
        elif change.kind is ChangeKind.WORLD:
            await servers.change_world(server_id, change.player, change.world or "", change.previous_world)
        else:
            await servers.leave(server_id, change.player)

    def _confirm(self, change: PlayerChange) -> None:
        self._outbox.remove(change)
        if change.kind is ChangeKind.JOIN:
            self._reported[change.player] = change.name
        elif change.kind is ChangeKind.LEAVE:
            self._reported.pop(change.player, None)

    def _refused(self, change: PlayerChange, error: Exception) -> None:
        LOG.warning("A %s of player %s cannot be told: %s", change.kind.value, change.player, error)
        self._outbox.remove(change)
        if change.kind is ChangeKind.LEAVE:
            self._reported.pop(change.player, None)

    async def _is_elsewhere(self, join: PlayerChange) -> bool:
        profile = await self._client.players.get(join.player)
        connection = None if profile is None else profile.connection
        return connection is not None and connection.server_id != self._info.server_id

    def _report_past_visit(self, join: PlayerChange, leave: PlayerChange) -> None:
        """Drops a visit during an outage whose player is elsewhere by now: reporting the join would move them back."""
        self._outbox.remove_visit(join, leave)
        self._reported.pop(join.player, None)
        seen = persist(lambda: self._client.players.load(join.player, join.name), 60.0)
        self._spawn(seen, "A visit cannot be told")


def is_passing(error: HubError) -> bool:
    """True if the error may pass, by itself or once the key is right."""
    is_key = error.status == 401 or (error.status == 403 and error.code != "quota_exceeded")
    return error.is_transient or error.status >= 500 or is_key
