"""The extension point ``matchmaking``: where a player is sent.

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
"""``free_slots`` where there is no limit."""

Ranking = list[int] | Refusal
"""Indices of candidates, best first, or a refusal. What is left out is not wanted."""


def refuse(reason: str) -> Refusal:
    """Nobody of this kind is matched now. The reason is for the player's eyes, 1 to 256 characters."""
    return Refusal(reason)
