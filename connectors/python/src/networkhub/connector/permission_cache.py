"""Permissions, kept in memory."""

from __future__ import annotations

import time
from collections.abc import Container
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from ..client import AsyncHubClient
from ..models import EffectivePermissions

_UNVERSIONED = 60.0
"""Seconds that an answer without an end is kept."""
_KEPT = 300.0
"""Lifetime of the permissions of players who did not join or have left."""


@dataclass(frozen=True, slots=True)
class _Entry:
    nodes: dict[str, bool]
    answer: EffectivePermissions
    etag: str | None
    asked_at: float


class PermissionCache:
    """Permissions of players.

    Answers immediately, from memory, in any thread, also while the hub is away: then with what was known last.
    Read when a player is checked, and again when the hub announces a change.
    """

    def __init__(self, client: AsyncHubClient, context: str | None) -> None:
        self._client = client
        self._context = context
        self._entries: dict[UUID, _Entry] = {}
        self._changed_at = time.monotonic()
        """Time of the last announced change."""

    def has(self, player: UUID, node: str) -> bool:
        """True if a player has a permission; false for unknown players."""
        return self.check(player, node) is True

    def check(self, player: UUID, node: str) -> bool | None:
        """Allowed, denied, or None where the network says nothing: then it is up to the server's defaults."""
        entry = self._entries.get(player)
        if entry is None:
            return None
        name = node.lower()
        value = entry.nodes.get(name)
        # Of wildcards the longest wins; `kit.*` does not cover `kit` itself.
        parent, dot, _ = name.rpartition(".")
        while value is None and dot:
            value = entry.nodes.get(parent + ".*")
            parent, dot, _ = parent.rpartition(".")
        return entry.nodes.get("*") if value is None else value

    def get(self, player: UUID) -> EffectivePermissions | None:
        """The hub's last answer about a player, with their groups."""
        entry = self._entries.get(player)
        return None if entry is None else entry.answer

    def put(self, player: UUID, answer: EffectivePermissions, etag: str | None, asked_at: float) -> None:
        """An answer to a question that was asked at this time; dropped where a later one was answered before."""
        known = self._entries.get(player)
        if known is not None and known.asked_at > asked_at:
            return
        nodes = {node.lower(): value for node, value in answer.permissions.items() if value is not None}
        self._entries[player] = _Entry(nodes, answer, etag, asked_at)

    async def refresh(self, player: UUID) -> None:
        """Asks the hub, which answers only what is new."""
        entry = self._entries.get(player)
        asked_at = time.monotonic()
        answer = await self._client.permissions.effective(
            player, context=self._context, etag=None if entry is None else entry.etag
        )
        if answer.permissions is not None:
            self.put(player, answer.permissions, answer.etag, asked_at)
        elif entry is not None:
            self.put(player, entry.answer, answer.etag, asked_at)

    def changed(self) -> None:
        """Records that an event announced a change."""
        self._changed_at = time.monotonic()

    def may_be_stale(self, player: UUID) -> bool:
        """True if a change was announced after the known state was requested."""
        entry = self._entries.get(player)
        return entry is None or entry.asked_at < self._changed_at

    def is_before(self, player: UUID, revision: Any) -> bool:
        """True if the known state may be older than this change."""
        entry = self._entries.get(player)
        if entry is None or not isinstance(revision, int):
            return True
        return entry.answer.revision < revision

    def has_expired(self, player: UUID, hub_now: int) -> bool:
        """True if a player's permissions have expired or are unknown."""
        entry = self._entries.get(player)
        if entry is None:
            return True
        return entry.answer.valid_until is not None and entry.answer.valid_until <= hub_now

    def prune(self, online: Container[UUID]) -> None:
        """Forgets those who are not online."""
        now = time.monotonic()
        for player, entry in list(self._entries.items()):
            if player not in online and now - entry.asked_at > _KEPT:
                del self._entries[player]
