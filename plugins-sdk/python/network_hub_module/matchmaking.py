"""The extension point ``matchmaking``: the choice of a player's server or world.

A module has a class ``Matchmaking`` with the methods ``rank_servers(self, context, request, servers) -> Ranking`` and
``rank_worlds(self, context, request, worlds) -> Ranking``.
"""

from wit_world.exports.matchmaking import GameState, MatchRequest, Refusal, ServerCandidate, WorldCandidate

__all__ = [
    "UNLIMITED",
    "GameState",
    "MatchRequest",
    "Ranking",
    "Refusal",
    "ServerCandidate",
    "WorldCandidate",
    "refuse",
]

UNLIMITED = 4294967295
"""``free_slots`` without a limit."""

Ranking = list[int] | Refusal
"""Indices of candidates, best first, or a refusal. Others are not tried."""


def refuse(reason: str) -> Refusal:
    """Refuses the match and shows the player the reason, 1 to 256 characters."""
    return Refusal(reason)
