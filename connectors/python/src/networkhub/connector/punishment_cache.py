"""The punishments that are known."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from ..models import Punishment, PunishmentKind
from .clock import HubClock

K = TypeVar("K")
V = TypeVar("V")

_CAPACITY = 50_000
_RECENT = 1_000
"""More events than come while an answer is on its way."""


@dataclass(frozen=True, slots=True)
class _Update:
    punishment: Punishment
    is_active: bool
    at: float


@dataclass(frozen=True, slots=True)
class Check:
    """A player's state at their last check."""

    name: str | None
    ip: str | None
    at: float

    def is_of(self, name: str | None, ip: str | None) -> bool:
        """True if it was of this name and address."""
        return (self.name, self.ip) == (name, ip)


class _Bounded(OrderedDict[K, V]):
    """Forgets what was used longest ago."""

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > _CAPACITY:
            self.popitem(last=False)


class PunishmentCache:
    """The punishments that the connector knows of, kept current by events.

    Answers immediately, from memory, in any thread, also while the hub is away. It fails closed: a ban or mute stays until its
    own end, and an unknown player is treated as muted.
    """

    def __init__(self, clock: HubClock) -> None:
        self._clock = clock
        self._lock = threading.RLock()
        self._active: _Bounded[int, Punishment] = _Bounded()
        self._checks: _Bounded[UUID, Check] = _Bounded()
        self._recent: deque[_Update] = deque(maxlen=_RECENT)
        self._gap_at = time.monotonic()
        """The checks before this time no longer count: events may have been missed."""

    def ban(self, player: UUID) -> Punishment | None:
        """The ban that keeps a checked player out, if there is one."""
        return self._find(player, "BAN")

    def mute(self, player: UUID) -> Punishment | None:
        """The mute of a player, if one is known."""
        return self._find(player, "MUTE")

    def is_muted(self, player: UUID) -> bool:
        """True if a player may not chat: they are muted, or were never checked, so that a mute would be unknown."""
        with self._lock:
            return self.last_check(player) is None or self.mute(player) is not None

    def all(self) -> list[Punishment]:
        """The punishments that are known to be active."""
        with self._lock:
            return list(self._active.values())

    def _find(self, player: UUID, kind: PunishmentKind) -> Punishment | None:
        check = self.last_check(player)
        return self.find(player, check.name if check else None, check.ip if check else None, kind)

    def find(self, player: UUID, name: str | None, ip: str | None, kind: PunishmentKind) -> Punishment | None:
        """A punishment of this kind that is in force for a player, a name or an address."""
        now = self._clock.now()
        with self._lock:
            for punishment in self._active.values():
                is_over = punishment.expires_at is not None and punishment.expires_at <= now
                if punishment.type == kind and not is_over and _concerns(punishment, player, name, ip):
                    return punishment
        return None

    def concerns(self, punishment: Punishment, player: UUID) -> bool:
        """True if a punishment applies to a player who was checked here."""
        check = self.last_check(player)
        return _concerns(punishment, player, check.name if check else None, check.ip if check else None)

    def checked(self, player: UUID, name: str | None, ip: str | None, punishments: Iterable[Punishment], asked_at: float) -> None:
        """The hub answered, when asked at this time, that these are all active punishments of a player.

        An answer is dropped where the same was asked later and answered before.
        """
        with self._lock:
            last = self._checks.get(player)
            if last is not None and last.at > asked_at and last.is_of(name, ip):
                return
            for known in [each for each in self._active.values() if _concerns(each, player, name, ip)]:
                del self._active[known.id]
            for punishment in punishments:
                self._active[punishment.id] = punishment
            self._checks[player] = Check(name, ip, asked_at)
            # Events since then may be newer than the answer.
            for update in self._recent:
                if update.at >= asked_at:
                    self._apply(update.punishment, update.is_active)

    def update(self, punishment: Punishment, is_active: bool) -> None:
        """Applies a punishment of an event."""
        with self._lock:
            self._recent.append(_Update(punishment, is_active, time.monotonic()))
            self._apply(punishment, is_active)

    def _apply(self, punishment: Punishment, is_active: bool) -> None:
        if is_active:
            self._active[punishment.id] = punishment
        else:
            self._active.pop(punishment.id, None)

    def gap(self) -> None:
        """Events may have been missed: only what is checked from now on is current."""
        with self._lock:
            self._gap_at = time.monotonic()

    def is_current(self, player: UUID, ip: str | None) -> bool:
        """True if a player was checked with this address since the last gap; without an address, with any."""
        with self._lock:
            check = self.last_check(player)
            return check is not None and check.at >= self._gap_at and (ip is None or ip == check.ip)

    def last_check(self, player: UUID) -> Check | None:
        """A player's state at their last check."""
        with self._lock:
            check = self._checks.get(player)
            if check is not None:
                self._checks.move_to_end(player)
            return check


def _concerns(punishment: Punishment, player: UUID, name: str | None, ip: str | None) -> bool:
    if punishment.player_uuid == player:
        return True
    is_of_name = punishment.player_uuid is None and punishment.player_name is not None
    if is_of_name and name is not None and name.lower() == (punishment.player_name or "").lower():
        return True
    is_of_address = punishment.ip_based or (punishment.player_uuid is None and punishment.player_name is None)
    return is_of_address and ip is not None and ip == punishment.ip_address
