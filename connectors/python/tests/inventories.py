"""Inventories of players in a game, for tests of what moves with them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from uuid import UUID

from networkhub import EndReason, PlayerDataHandler


class Inventories(PlayerDataHandler):
    """Counts of items, which are there from `apply` until the player leaves or has to be frozen."""

    def __init__(self) -> None:
        self.held: dict[UUID, dict[str, int]] = {}
        self.applied: list[dict[str, int]] = []
        self.endings: list[EndReason] = []

    def apply(self, player: UUID, data: Mapping[str, str]) -> None:
        self.held[player] = json.loads(data.get("inventory", "{}"))
        self.applied.append(dict(self.held[player]))

    def capture(self, player: UUID) -> Mapping[str, str]:
        return {"inventory": json.dumps(self.held[player])}

    def ended(self, player: UUID, reason: EndReason) -> None:
        self.endings.append(reason)
        self.held.pop(player, None)

    def give(self, player: UUID, item: str, count: int = 1) -> None:
        held = self.held[player]
        held[item] = held.get(item, 0) + count
