"""The changes of players that the hub has not confirmed."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from enum import Enum
from uuid import UUID

from .._call import new_key


class ChangeKind(Enum):
    """Kind of a player's change."""

    JOIN = "join"
    WORLD = "change of world"
    LEAVE = "leave"


@dataclass(eq=False, slots=True)
class PlayerChange:
    """Something a player did that the hub has to learn."""

    kind: ChangeKind
    player: UUID
    name: str | None = None
    world: str | None = None
    previous_world: str | None = None
    made_at: float = field(default_factory=time.monotonic)
    key: str = field(default_factory=new_key)
    """Idempotency key: repeats are one change."""

    def renew_key(self) -> None:
        """A refusal is kept with its key, too: after one, the change needs another."""
        self.key = new_key()


class PlayerOutbox:
    """The changes in the order they happened. They stay until the hub has confirmed them, however long it is away."""

    def __init__(self, capacity: int) -> None:
        self._changes: deque[PlayerChange] = deque()
        self._capacity = capacity

    def __len__(self) -> int:
        return len(self._changes)

    def add(self, change: PlayerChange) -> int:
        """Adds a change. Returns the number of those dropped to make room: visits that are over, and changes of worlds."""
        # Of several changes of world in a row the last one counts. The first change may be under way.
        last = self._changes[-1] if len(self._changes) > 1 else None
        if last is not None and last.kind is change.kind is ChangeKind.WORLD and last.player == change.player:
            self._changes.pop()
        self._changes.append(change)
        return self._drop_finished_visits() if len(self._changes) > self._capacity else 0

    def peek(self) -> PlayerChange:
        """The first change."""
        return self._changes[0]

    def remove(self, change: PlayerChange) -> None:
        """Removes a change that the hub has confirmed or refused."""
        if change in self._changes:
            self._changes.remove(change)

    def end_of(self, join: PlayerChange) -> PlayerChange | None:
        """The leave that ends the visit which begins with this join; None while the player is here."""
        changes = iter(self._changes)
        for change in changes:
            if change is join:
                break
        leaves = (change for change in changes if change.kind is ChangeKind.LEAVE and change.player == join.player)
        return next(leaves, None)

    def remove_visit(self, join: PlayerChange, leave: PlayerChange) -> None:
        """Removes everything a player did from one change to another."""
        kept: deque[PlayerChange] = deque()
        is_within = False
        for change in self._changes:
            is_within = is_within or change is join
            if not (is_within and change.player == join.player):
                kept.append(change)
            if change is leave:
                is_within = False
        self._changes = kept

    def concerns(self, player: UUID) -> bool:
        """True if a change of the player is pending."""
        return any(change.player == player for change in self._changes)

    def _drop_finished_visits(self) -> int:
        before = len(self._changes)
        # The first one may be under way.
        first = self._changes.popleft()
        joins: dict[UUID, PlayerChange] = {}
        dropped: set[int] = set()
        for change in self._changes:
            if change.kind is ChangeKind.WORLD:
                dropped.add(id(change))
            elif change.kind is ChangeKind.JOIN:
                joins[change.player] = change
            elif change.player in joins:
                dropped |= {id(joins.pop(change.player)), id(change)}
        self._changes = deque([first, *(change for change in self._changes if id(change) not in dropped)])
        return before - len(self._changes)
