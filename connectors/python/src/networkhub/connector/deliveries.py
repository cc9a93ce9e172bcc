"""Claims, runs and settles deliveries."""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from uuid import UUID

from .._call import new_key
from ..client import AsyncHubClient
from ..errors import HubError
from ..models import Delivery, DeliveryClaim
from .game import GameServer, call_game
from .persist import persist
from .player_data import ClaimOutcome, PlayerDataStore

LOG = logging.getLogger("networkhub")

DeliveryHandler = Callable[[Delivery], "Awaitable[None] | None"]
"""Carries out a delivery, on the game's main thread; may be a coroutine function in a game on the connector's loop."""

_CLAIM_TTL = 60.0
_MARGIN = 5.0
"""Seconds of a claim that are left for completing it."""
_POLL_INTERVAL = 60.0
_MOST_PAUSE = 30.0
"""Seconds between two attempts at a delivery, at most."""
_SIDE_BY_SIDE = 16
_REMEMBERED = 1_000
_PATIENCE = 120.0
"""Seconds for which the end of a claim is told again: past its end the answer says what has become of it."""


class DeliveryFailure(Exception):  # noqa: N818 - it is an outcome
    """Raised by a handler that cannot carry out a delivery: FAILED, or offered again with `retry`."""

    def __init__(self, reason: str, *, retry: bool = False) -> None:
        super().__init__(reason)
        self.retry = retry
        """True if it is to be offered again, up to five attempts in all."""


@dataclass(frozen=True)
class _Kind:
    handler: DeliveryHandler
    is_data: bool
    """True if its effect is part of the player's captured data."""


@dataclass
class _Claim:
    delivery: Delivery
    claim: str
    good_until: float = field(default=0.0)
    has_begun: bool = field(default=False)


class Deliveries:
    """Carries out the deliveries of the players who are here."""

    def __init__(
        self,
        client: AsyncHubClient,
        server_id: str,
        game: GameServer,
        data: PlayerDataStore,
        is_here: Callable[[UUID], bool],
        spawn: Callable[[Awaitable[object], str], asyncio.Task[None]],
    ) -> None:
        self._client = client
        self._server_id = server_id
        self._game = game
        self._data = data
        self._is_here = is_here
        self._spawn = spawn
        self._kinds: dict[str, _Kind] = {}
        self._running: set[int] = set()
        self._saving: dict[str, _Claim] = {}
        """Claims that the next save of their player completes."""
        self._carried_out: deque[int] = deque(maxlen=_REMEMBERED)
        """Deliveries that are offered again, though their effects were saved after their claims were over."""
        self._slots = asyncio.Semaphore(_SIDE_BY_SIDE)
        self._work: set[asyncio.Task[None]] = set()
        """Deliveries, and ends of claims, that are under way."""
        self._stopping = asyncio.Event()
        self._lock = threading.Lock()
        data.on_open = lambda player: self.look(player)
        data.on_claims = self._claims_ended

    @property
    def is_used(self) -> bool:
        """True if there is a handler."""
        return bool(self._kinds)

    def add(self, kind: str, handler: DeliveryHandler, *, is_data: bool) -> None:
        """Carries out deliveries of a kind from now on."""
        self._kinds[kind] = _Kind(handler, is_data)

    async def run(self) -> None:
        """Looks for those whose event was missed."""
        while True:
            await asyncio.sleep(_POLL_INTERVAL)
            self.look()

    def stop(self) -> None:
        """Claims nothing more, and gives back what has not begun."""
        self._stopping.set()

    async def finish(self, patience: float) -> None:
        """Waits for what has begun."""
        if self._work:
            await asyncio.wait(self._work, timeout=max(0.0, patience))

    def look(self, player: UUID | None = None) -> None:
        """Asks the hub what can be claimed now."""
        if self._kinds and not self._stopping.is_set():
            self._spawn(self._look(player), "Deliveries cannot be read")

    async def _look(self, player: UUID | None) -> None:
        found = await persist(lambda: self._client.deliveries.ready(self._server_id, player), _POLL_INTERVAL)
        for delivery in found.items:
            if delivery.player_uuid is not None:
                self.ready(delivery.delivery_id, delivery.player_uuid, delivery.kind)

    def ready(self, delivery_id: int, player: UUID, name: str) -> None:
        """A delivery can be claimed."""
        kind = self._kinds.get(name)
        if kind is None or delivery_id in self._running or not self._is_here(player) or self._stopping.is_set():
            return
        # It comes again when the session is open.
        if kind.is_data and not self._data.is_open(player):
            return
        # Its claim is over, and its effect is about to be saved.
        if any(claim.delivery.delivery_id == delivery_id for claim in self._saving.values()):
            return
        self._running.add(delivery_id)
        self._track(self._deliver(delivery_id, player, kind), f"Delivery {delivery_id} is not carried out")

    def _track(self, work: Awaitable[object], failure: str) -> None:
        task = self._spawn(work, failure)
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    async def _deliver(self, delivery_id: int, player: UUID, kind: _Kind) -> None:
        pause = None
        try:
            async with self._slots:
                claim = None if self._stopping.is_set() else await self._claim(delivery_id)
                if claim is not None and delivery_id in self._carried_out:
                    self._carried_out.remove(delivery_id)
                    await self._complete_saved(claim)
                elif claim is not None and await self._carry_out(claim, player, kind):
                    pause = min(2.0**claim.delivery.attempts, _MOST_PAUSE)
            if pause is not None:
                # A full inventory is not emptied at once.
                try:
                    await asyncio.wait_for(self._stopping.wait(), pause)
                except asyncio.TimeoutError:
                    pass
        finally:
            self._running.discard(delivery_id)
        if pause is not None:
            self.look(player)

    async def _claim(self, delivery_id: int) -> _Claim | None:
        # From the first attempt: the hub may have carried that out.
        begin, key = time.monotonic(), new_key()
        try:
            answer: DeliveryClaim = await persist(
                lambda: self._client.deliveries.claim(delivery_id, self._server_id, idempotency_key=key), _CLAIM_TTL
            )
        except HubError as error:
            # With `answer_not_kept` the hub was killed between the claim and its answer: the claim is nobody's, and runs out.
            if error.code in ("claimed", "settled", "not_ready", "answer_not_kept"):
                return None
            raise
        return _Claim(answer.delivery, answer.claim, begin + _CLAIM_TTL - _MARGIN)

    async def _carry_out(self, claim: _Claim, player: UUID, kind: _Kind) -> bool:
        """Returns true if it is to be tried again."""

        def run() -> Awaitable[None] | None:
            with self._lock:
                if self._stopping.is_set():
                    raise _stops()
                claim.has_begun = True
            # On the main thread, which may have been busy.
            if not self._is_here(player):
                raise DeliveryFailure("The player has left.", retry=True)
            if time.monotonic() > claim.good_until:
                raise DeliveryFailure("The server did not get to it in time.", retry=True)
            if not kind.is_data:
                return kind.handler(claim.delivery)
            visit = self._data.visit(player)
            if visit is None or not visit.is_open:
                raise DeliveryFailure("The player's session is not open.", retry=True)
            if inspect.isawaitable(kind.handler(claim.delivery)):
                raise TypeError("a handler whose effect is saved with the player must not be a coroutine function")
            # In the same step, so that no save has the effect without the claim.
            try:
                is_captured = visit.capture_now(claim=claim.claim)
            except Exception as failure:
                LOG.exception("Player %s cannot be captured after a delivery", player)
                # The player has it, so it must not be made again.
                raise DeliveryFailure("It was carried out, but the player cannot be captured.") from failure
            if not is_captured:
                raise DeliveryFailure("The player's session is over.", retry=True)
            return None

        if kind.is_data:
            self._saving[claim.claim] = claim
        try:
            await self._call(claim, run)
        except Exception as failure:
            self._saving.pop(claim.claim, None)
            retry = failure.retry if isinstance(failure, DeliveryFailure) else True
            if not isinstance(failure, DeliveryFailure):
                LOG.warning("Delivery %d failed: %s", claim.delivery.delivery_id, failure)
            await self._fail(claim, str(failure) or type(failure).__name__, retry)
            return retry
        if not kind.is_data:
            await self._complete(claim)
        return False

    async def _call(self, claim: _Claim, run: Callable[[], Awaitable[None] | None]) -> None:
        """Runs it on the main thread, unless that has not come to it when the connector stops."""
        called, stopping = asyncio.ensure_future(call_game(self._game, run)), asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait([called, stopping], return_when=asyncio.FIRST_COMPLETED)
            with self._lock:
                is_left_out = not called.done() and not claim.has_begun
            if is_left_out:
                raise _stops()
            await called
        finally:
            called.cancel()
            stopping.cancel()

    def _claims_ended(self, claims: list[str], outcome: ClaimOutcome) -> None:
        for name in claims:
            claim = self._saving.get(name)
            if claim is not None and outcome == "SEPARATE":
                self._track(self._complete_saved(claim), "A delivery cannot be completed")
                continue
            self._saving.pop(name, None)
            if claim is None or outcome == "SAVED":
                continue
            if outcome == "REFUSED":
                reason = "It was carried out, but the hub refused to save the player."
                self._track(self._fail(claim, reason, False), "A delivery cannot be failed")
            else:
                self._track(self._fail(claim, "The player's session was lost.", True), "A delivery cannot be given back")

    async def _complete_saved(self, claim: _Claim) -> None:
        """Completes a delivery whose effect is stored: now, or when it is offered again."""
        delivery, is_completed = claim.delivery, False
        try:
            is_completed = await self._complete(claim)
        finally:
            if not is_completed and delivery.on_lost == "RETRY":
                self._carried_out.append(delivery.delivery_id)
            self._saving.pop(claim.claim, None)
        if not is_completed:
            self.look(delivery.player_uuid)

    async def _complete(self, claim: _Claim) -> bool:
        """Completes a delivery; false if its claim is over."""
        delivery_id = claim.delivery.delivery_id
        try:
            await persist(lambda: self._client.deliveries.complete(delivery_id, claim.claim), _PATIENCE)
        except HubError as error:
            if error.code != "stale_claim":
                raise
            LOG.warning("Delivery %d was carried out too late: its claim is over", delivery_id)
            return False
        return True

    async def _fail(self, claim: _Claim, reason: str, retry: bool) -> None:
        delivery_id, reason = claim.delivery.delivery_id, reason[:256]
        try:
            await persist(lambda: self._client.deliveries.fail(delivery_id, claim.claim, reason, retry), _PATIENCE)
        except HubError as error:
            if error.code != "stale_claim":
                raise


def _stops() -> DeliveryFailure:
    return DeliveryFailure("The server stops.", retry=True)
