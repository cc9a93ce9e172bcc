"""Data of players that moves with them from server to server."""

from __future__ import annotations

import asyncio
import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar
from uuid import UUID

from .._transport import NO_RETRIES
from ..client import AsyncHubClient
from ..errors import HubError
from .game import GameServer, call_game
from .persist import cancel_all, persist
from .visit import Visit

LOG = logging.getLogger("networkhub")
T = TypeVar("T")

_PROBE_INTERVAL = 0.3

EndReason = Literal["REQUESTED", "LOST", "REFUSED"]
"""Reason why a player's data may no longer be changed here, though the player has not left.

`REQUESTED`: another server has asked for the player; what was captured is saved. `LOST`: another server has the player, or a
person restored a snapshot; forget everything. `REFUSED`: the hub refuses to open the session or to save.
"""

ClaimOutcome = Literal["SAVED", "SEPARATE", "LOST", "REFUSED"]
"""Fate of a claim: completed by the save, to be completed by itself, lost with its effect, or refused while the effect stays."""


class PlayerDataHandler(ABC):
    """Reads and writes a player in the game. All methods are called through `GameServer.run_on_main_thread`."""

    @abstractmethod
    def apply(self, player: UUID, data: Mapping[str, str]) -> None:
        """Gives a player what is stored: JSON as text by namespace, without those that were never written.

        Once for each session. The player is to be locked from the join to here: no moves of items, drops, damage, commands.
        """

    @abstractmethod
    def capture(self, player: UUID) -> Mapping[str, str]:
        """What a player has now: JSON as text by namespace, all that belongs together.

        At each autosave, when another server asks for the player, when they leave (then by the caller of `player_left`), and at
        `stop` (by its caller). Drop first what the player holds on the cursor.
        """

    def ended(self, player: UUID, reason: EndReason) -> None:  # noqa: B027 - to be overridden by those who need it
        """A player who is still here may no longer be changed: lock them, until `apply` comes again or they leave."""


class Link:
    """Sends saves one at a time while the hub is away, in quick succession: after an outage they have to be there soon.

    Another server that asks for a player then waits half a second for a server whose event stream is not open yet.
    """

    def __init__(self) -> None:
        self._is_away = False
        self._probe = asyncio.Lock()

    async def reached(self, call: Callable[[], Awaitable[T]]) -> T:
        """The answer to a call, once it is its turn."""
        if not self._is_away:
            return await self._attempt(call)
        async with self._probe:
            if self._is_away:
                await asyncio.sleep(_PROBE_INTERVAL)
                return await self._attempt(call)
        return await self._attempt(call)

    async def _attempt(self, call: Callable[[], Awaitable[T]]) -> T:
        try:
            answer = await call()
        except HubError as error:
            self._is_away = error.is_transient
            raise
        self._is_away = False
        return answer


class PlayerDataStore:
    """Data of the players on this server, in sessions: the right to write it, which one server has at a time.

    A session is opened when a player joins, and closed with a last save when they leave or another server asks for them.
    One that is lost is never saved. While the hub is away saves wait and are repeated; none is made twice. Any thread may ask.
    """

    def __init__(
        self,
        client: AsyncHubClient,
        server_id: str,
        game: GameServer,
        handler: PlayerDataHandler | None,
        namespaces: Sequence[str],
        *,
        autosave: float,
        game_mode: str | None,
        game_type: str | None,
        spawn: Callable[[Awaitable[object], str], object],
    ) -> None:
        # Repeats are made here, where their order is known.
        self.client = client.with_options(retry=NO_RETRIES)
        self.link = Link()
        self.server_id = server_id
        self.game = game
        self.handler = handler
        self.namespaces = list(namespaces)
        self.game_mode = game_mode
        self.game_type = game_type
        self.lock = threading.RLock()
        self.on_open: Callable[[UUID], None] = lambda player: None
        """Called on the loop when a player's data was applied."""
        self.on_claims: Callable[[list[str], ClaimOutcome], None] = lambda claims, outcome: None
        """Called on the loop with the claims of a save."""
        self._autosave = autosave
        self._spawn = spawn
        self._visits: dict[UUID, Visit] = {}
        """The visits of those who are here."""
        self._tails: dict[UUID, asyncio.Task[None]] = {}
        """The latest visit of each player, until it is over."""
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def is_enabled(self) -> bool:
        """True if sessions are opened: there is a handler, and a namespace."""
        return self.handler is not None and bool(self.namespaces)

    def is_open(self, player: UUID) -> bool:
        """True from when a player's data was applied until they leave, or another server has them or asks for them."""
        visit = self._visits.get(player)
        return visit is not None and visit.is_open

    def fence(self, player: UUID) -> int | None:
        """The fence of a player's open session, for writes of their own; None while there is none."""
        visit = self._visits.get(player)
        return visit.fence if visit is not None and visit.is_open else None

    def get(self, player: UUID, namespace: str) -> str | None:
        """What a namespace of a player holds, by the last capture, `put` or read; None where there is nothing or no session."""
        with self.lock:
            visit = self._visits.get(player)
            return None if visit is None or not visit.is_open else visit.current.get(namespace)

    def put(self, player: UUID, namespace: str, data: str) -> None:
        """Sets what a namespace of a player holds: JSON as text. It is saved with the next save.

        For small documents of a plugin that captures no such namespace. Fails with `no_session` unless the session is open.
        """
        with self.lock:
            visit = self._visits.get(player)
            if visit is None or not visit.is_open:
                raise HubError("no_session", "The player's session is not open here.")
            visit.current[namespace] = data

    async def save(self, player: UUID) -> None:
        """Saves a player now; returns when the hub has confirmed it. Fails with `no_session` or `stale_session`."""
        visit = self._visits.get(player)
        if visit is None:
            raise HubError("no_session", "The player's session is not open here.")
        await visit.save()

    # For the connector.

    def start(self) -> None:
        """Begins to work on this event loop."""
        self._loop = asyncio.get_running_loop()
        if self.is_enabled and self._autosave > 0:
            self._spawn(self._save_all(), "The autosave failed")

    def joined(self, player: UUID, name: str) -> None:
        """Opens a session for a player."""
        if not self.is_enabled or player in self._visits:
            return
        visit = Visit(self, player, name)
        with self.lock:
            self._visits[player] = visit
        before = self._tails.get(player)
        task = asyncio.ensure_future(self._run(visit, before))
        self._tails[player] = task
        task.add_done_callback(lambda done: self._forget(player, done))

    def leave(self, player: UUID) -> None:
        """Captures and closes. Called by the game, in any thread."""
        visit = self._visits.get(player)
        if visit is not None:
            visit.leave()
            with self.lock:
                if self._visits.get(player) is visit:
                    del self._visits[player]

    def leave_all(self) -> None:
        """The server stops."""
        for player in list(self._visits):
            self.leave(player)

    async def finish(self, patience: float) -> None:
        """Waits for the last saves."""
        if self._tails:
            _, late = await asyncio.wait(self._tails.values(), timeout=patience)
            if late:
                LOG.warning("The data of %d players could not be saved before the server stopped", len(late))
            await cancel_all(late)

    def requested(self, player: UUID, fence: int) -> None:
        """Another server asks for a player."""
        if not self.is_enabled:
            return
        visit = self._visits.get(player)
        if visit is not None:
            visit.requested(fence)
        elif player not in self._tails:
            # Opened by a call whose answer was lost, or by a process before this one: nobody has anything to save.
            self._spawn(
                persist(lambda: self.client.players.save_session(player, fence, close=True), 10.0), "A session stays open"
            )

    def session_ended(self, player: UUID, fence: int) -> None:
        """A person ended a session."""
        visit = self._visits.get(player)
        if visit is not None and visit.fence == fence:
            visit.lose()

    def visit(self, player: UUID) -> Visit | None:
        """The visit of a player who is here."""
        return self._visits.get(player)

    def call_soon(self, method: Callable[..., object], *arguments: object) -> None:
        """Calls something on the connector's loop."""
        if self._loop is not None:
            try:
                self._loop.call_soon_threadsafe(method, *arguments)
            except RuntimeError:
                pass  # The connector has stopped.

    def spawn(self, work: Awaitable[object], failure: str) -> None:
        """Runs this beside all else."""
        self._spawn(work, failure)

    async def ask_game(self, method: Callable[[], Any]) -> Any:
        """Runs something on the game's main thread."""
        return await call_game(self.game, method)

    async def _run(self, visit: Visit, before: asyncio.Task[None] | None) -> None:
        # The last save of the visit before is part of what this one reads.
        if before is not None:
            await asyncio.wait([before])
        try:
            await visit.run()
        except Exception:
            LOG.exception("The sessions of player %s failed", visit.player)

    def _forget(self, player: UUID, task: asyncio.Task[None]) -> None:
        if self._tails.get(player) is task:
            del self._tails[player]

    async def _save_all(self) -> None:
        while True:
            visits = list(self._visits.values())
            # One after the other, so that the hub does not get all at once.
            pause = self._autosave / (len(visits) + 1)
            await asyncio.sleep(pause)
            for visit in visits:
                await asyncio.sleep(pause)
                try:
                    await visit.capture()
                except Exception:
                    LOG.exception("Player %s cannot be captured", visit.player)
