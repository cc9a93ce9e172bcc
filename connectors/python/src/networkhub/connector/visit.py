"""A player's visit to this server, and the sessions in which their data is written meanwhile."""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from .._transport import RetryPolicy
from ..errors import HubError
from ..models import OpenedPlayerSession, SessionData
from .session import is_passing

if TYPE_CHECKING:
    from .player_data import ClaimOutcome, EndReason, PlayerDataStore

LOG = logging.getLogger("networkhub")

_DELAYS = RetryPolicy(first_delay=0.25, max_delay=5.0)
_CHECK_INTERVAL = 2.0
"""Seconds between looks at who has a player's session after this server had it."""
_LAST_SAVE = 5.0
"""Seconds that the last save of the server before is waited for after an outage."""
_PROBE_INTERVAL = 0.5
_CLAIMS_AT_ONCE = 32


@dataclass(frozen=True)
class _Save:
    """One save, which is sent until it is answered."""

    data: dict[str, str]
    claims: list[str]
    close: bool
    flush: int


class Visit:
    """Opens sessions one after the other while the player is here, and makes one save at a time.

    What the game asks for and captures is guarded by the store's lock; all else happens on the loop.
    """

    def __init__(self, store: PlayerDataStore, player: UUID, name: str) -> None:
        self.player = player
        self.fence: int | None = None
        self.is_open = False
        """True while the player's data may be changed."""
        self.current: dict[str, str] = {}
        """What the namespaces hold."""
        self._store = store
        self._name = name
        self._has_left = False
        self._wake = asyncio.Event()
        self._requested = 0
        """Highest fence that another server asked for."""
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        self._begin()

    def _begin(self) -> None:
        """State of a new session."""
        self.current = {}
        self._saved: dict[str, str] = {}
        self._claims: list[str] = []
        self._number = 0
        self._is_closing = False
        self._is_lost = False
        self._flushes = 0
        self._flushed = 0

    async def run(self) -> None:
        """Until the player has left and all is saved."""
        while not self._has_left:
            opened = await self._open()
            if opened is None:
                return
            is_usable = await self._apply(opened)
            await self._save_until_closed()
            self.fence = None
            if not is_usable:
                return
            if not self._has_left:
                await self._until_free()

    # Opening.

    async def _open(self) -> OpenedPlayerSession | None:
        store = self._store
        for attempt in itertools.count(1):
            if self._has_left:
                return None
            try:
                return await store.client.players.open_session(
                    self.player,
                    store.server_id,
                    self._name,
                    game_mode=store.game_mode,
                    game_type=store.game_type,
                    include=[f"data:{namespace}" for namespace in store.namespaces],
                )
            except HubError as error:
                if error.code != "unknown_server" and not is_passing(error):
                    LOG.warning("The session of player %s cannot be opened: %s", self.player, error)
                    await self._tell("REFUSED")
                    return None
                if attempt == 1 and error.code != "unknown_server":
                    LOG.info("The session of player %s cannot be opened yet: %s", self.player, error)
                await self._wait(error.retry_after or _DELAYS.delay(attempt))
                if error.is_transient:
                    await self._wait_for_last_save()
        return None

    async def _wait_for_last_save(self) -> None:
        """After an outage the server before may have a last save to make, and is not asked for it before its stream is open."""
        deadline: float | None = None
        while not self._has_left and (deadline is None or time.monotonic() < deadline):
            try:
                session = await self._store.client.players.session(self.player)
            except HubError as error:
                if not is_passing(error):
                    return
                await self._wait(_PROBE_INTERVAL)
                continue
            if session is None or session.state != "OPEN" or session.server_id == self._store.server_id:
                return
            deadline = deadline or time.monotonic() + _LAST_SAVE
            await self._wait(_PROBE_INTERVAL)

    async def _apply(self, opened: OpenedPlayerSession) -> bool:
        """Hands the data to the game, once; false if it cannot take them."""
        self._begin()
        found = opened.profile.data or {}
        data = {namespace: entry.data for namespace, entry in found.items() if entry is not None}
        self.current, self._saved = dict(data), dict(data)
        self.fence = opened.fence
        if opened.taken_over:
            LOG.warning(
                "Player %s was taken over from %s: what it had not saved is missing", self.player, opened.previous_server_id
            )
        if self._requested >= opened.fence:
            self._close()

        def apply() -> None:
            if self._has_left or self._is_closing or self._is_lost:
                return
            handler = self._store.handler
            assert handler is not None
            handler.apply(self.player, data)
            with self._store.lock:
                self.is_open = not (self._has_left or self._is_lost)

        try:
            await self._store.ask_game(apply)
        except Exception:
            LOG.exception("The data of player %s cannot be applied", self.player)
            self._close()
            await self._tell("REFUSED")
            return False
        if self.is_open:
            self._store.on_open(self.player)
        return True

    async def _until_free(self) -> None:
        """Waits until no other server has the player, who has not left by the hub's account either."""
        players = self._store.client.players
        while not self._has_left:
            await self._wait(_CHECK_INTERVAL)
            try:
                session, profile = await players.session(self.player), await players.get(self.player)
            except HubError:
                continue
            is_elsewhere = session is not None and session.state == "OPEN" and session.server_id != self._store.server_id
            connection = None if profile is None else profile.connection
            if not is_elsewhere and connection is not None and connection.server_id == self._store.server_id:
                return

    # Asked by the game.

    def capture_now(self, *, claim: str | None = None) -> bool:
        """Captures on the game's main thread, to be saved soon, with a claim; false where the session is not open."""
        if not self.is_open:
            return False
        assert self._store.handler is not None
        captured = dict(self._store.handler.capture(self.player))
        with self._store.lock:
            if not self.is_open:
                return False
            self.current |= captured
            if claim is not None:
                self._claims.append(claim)
            self._flushes += 1
        self._store.call_soon(self._wake.set)
        return True

    async def capture(self) -> bool:
        """Captures soon."""
        return self.is_open and bool(await self._store.ask_game(self.capture_now))

    async def save(self) -> None:
        """Captures and waits for the hub's confirmation."""
        if not await self.capture():
            raise HubError("no_session", "The player's session is not open here.")
        if self._is_lost:
            raise _stale()
        confirmed = asyncio.get_running_loop().create_future()
        self._waiting.append((self._flushes, confirmed))
        self._settle_waiting()
        await confirmed

    def leave(self) -> None:
        """The player leaves: captures in the caller."""
        try:
            self.capture_now()
        except Exception:
            LOG.exception("Player %s cannot be captured; what was saved before counts", self.player)
        with self._store.lock:
            self.is_open = False
            self._has_left = True
            self._is_closing = True
        self._store.call_soon(self._wake.set)

    # Asked by the hub.

    def requested(self, fence: int) -> None:
        """Another server asks for the player."""
        self._requested = max(self._requested, fence)
        # The answer with this fence may be on its way; then it is closed at once.
        if fence == self.fence and not self._is_closing:
            self._store.spawn(self._hand_over(), "A session that another server asks for cannot be closed")

    async def _hand_over(self) -> None:
        def hand_over() -> None:
            try:
                self.capture_now()
            finally:
                was_open = self.is_open
                self._close()
                if was_open and self._store.handler is not None:
                    self._store.handler.ended(self.player, "REQUESTED")

        await self._store.ask_game(hand_over)

    def _close(self) -> None:
        with self._store.lock:
            self.is_open = False
            self._is_closing = True
        self._store.call_soon(self._wake.set)

    def lose(self) -> None:
        """The session is over, and so is the right to save."""
        with self._store.lock:
            if self._is_lost:
                return
            self._is_lost = True
            was_open, self.is_open = self.is_open, False
        LOG.warning("The session %s of player %s is lost; what was not saved is dropped", self.fence, self.player)
        self._wake.set()
        if was_open:
            self._store.spawn(self._tell("LOST"), "The end of a session cannot be told")

    async def _tell(self, reason: EndReason) -> None:
        handler = self._store.handler
        if handler is not None and not self._has_left:
            await self._store.ask_game(lambda: handler.ended(self.player, reason))

    # Saving.

    async def _save_until_closed(self) -> None:
        while not self._is_lost:
            save = self._next_save()
            if save is None:
                await self._wait(None)
                continue
            await self._send(save)
            if save.close:
                break
        waiting, self._waiting = self._waiting, []
        for _, confirmed in waiting:
            if not confirmed.done():
                confirmed.set_exception(_stale())
        self._store.on_claims(self._claims, "LOST")

    def _next_save(self) -> _Save | None:
        with self._store.lock:
            data = {name: text for name, text in self.current.items() if self._saved.get(name) != text}
            claims = self._claims[:_CLAIMS_AT_ONCE]
            if self._is_closing:
                return _Save(data, claims, len(claims) == len(self._claims), self._flushes)
            if self._flushes == self._flushed:
                return None
            if data or claims:
                return _Save(data, claims, False, self._flushes)
            self._flushed = self._flushes
        self._settle_waiting()
        return None

    async def _send(self, save: _Save) -> None:
        """Sends a save until it is answered."""
        body = save
        outcome: ClaimOutcome = "SAVED"
        self._number += 1
        for attempt in itertools.count(1):
            if self._is_lost:
                return
            try:
                await self._store.link.reached(partial(self._attempt, body, self._number))
            except HubError as error:
                if error.code == "stale_session":
                    self.lose()
                    return
                if error.code == "stale_claim":
                    # They are completed one by one, once their effects are stored.
                    self._number += 1
                    body, outcome = replace(body, claims=[]), "SEPARATE"
                elif error.code == "stale_save":
                    self._number += 1
                elif is_passing(error):
                    await asyncio.sleep(error.retry_after or (0.0 if error.is_transient else _DELAYS.delay(attempt)))
                else:
                    LOG.warning("The hub refuses to save player %s: %s", self.player, error)
                    self._saved |= save.data  # Not again, unless it changes.
                    self._done(save, error)
                    # Data that a closing save does not store is gone; else the player has it.
                    self._store.on_claims(save.claims, "LOST" if save.close else "REFUSED")
                    if not save.close or not (body.data or body.claims):
                        return
                    # The player is not held because of it.
                    self._number += 1
                    body = replace(body, data={}, claims=[])
                    await self._tell("REFUSED")
            else:
                self._saved |= save.data
                self._store.on_claims(save.claims, outcome)
                self._done(save)
                return

    async def _attempt(self, save: _Save, number: int) -> None:
        assert self.fence is not None
        mode = self._store.game_mode
        data = [SessionData(game_mode=mode, namespace=name, data=text) for name, text in save.data.items()]
        await self._store.client.players.save_session(
            self.player, self.fence, data, complete=save.claims, number=number, close=save.close
        )

    def _done(self, save: _Save, error: HubError | None = None) -> None:
        self._forget_claims(save.claims)
        self._flushed = save.flush
        self._settle_waiting(error)

    def _settle_waiting(self, error: HubError | None = None) -> None:
        for flush, confirmed in self._waiting:
            if flush <= self._flushed and not confirmed.done():
                if error is None:
                    confirmed.set_result(None)
                else:
                    confirmed.set_exception(error)
        self._waiting = [(flush, confirmed) for flush, confirmed in self._waiting if not confirmed.done()]

    def _forget_claims(self, claims: list[str]) -> None:
        with self._store.lock:
            self._claims = [claim for claim in self._claims if claim not in claims]

    async def _wait(self, seconds: float | None) -> None:
        """Until something happens, or so many seconds are over."""
        try:
            await asyncio.wait_for(self._wake.wait(), seconds)
        except asyncio.TimeoutError:
            pass
        self._wake.clear()


def _stale() -> HubError:
    return HubError("stale_session", "The player's session is over.", status=409)
