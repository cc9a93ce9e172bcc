"""Fill up: servers of the player's region first, then those with the party's game, then the fullest with room."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from network_hub_module import CallContext, config
from network_hub_module.matchmaking import MatchRequest, Ranking, ServerCandidate, WorldCandidate, refuse


@dataclass
class Config:
    # Maximum fill level of a server, as a share of its slots.
    max_fill: float = 1.0
    # Server types to which no player is sent.
    closed_types: list[str] = field(default_factory=list)


class Matchmaking:
    def rank_servers(self, context: CallContext, request: MatchRequest, servers: list[ServerCandidate]) -> Ranking:
        return rank(context, request, servers)

    def rank_worlds(self, context: CallContext, request: MatchRequest, worlds: list[WorldCandidate]) -> Ranking:
        return rank(context, request, worlds)


def rank(
    context: CallContext, request: MatchRequest, candidates: Sequence[ServerCandidate | WorldCandidate]
) -> Ranking:
    settings = config(context, Config)
    if request.server_type in settings.closed_types:
        return refuse(f"No {request.server_type} is open right now.")
    with_room = [
        candidate
        for candidate in candidates
        if candidate.max_players == 0 or candidate.current_players < candidate.max_players * settings.max_fill
    ]
    with_room.sort(
        key=lambda candidate: (
            candidate.region != request.region,
            not candidate.affinity,
            -candidate.current_players,
        )
    )
    return [candidate.index for candidate in with_room]
