"""Texts of the candidates of this matchmaking call, by their ``index``. A wrong index ends the call as failed."""

from wit_world.imports import candidates as _candidates
from wit_world.imports.candidates import (
    display_name,
    region_name,
    region_number,
    server_id,
    server_type,
    state_name,
    world_id,
    world_type,
)

from ._host import ask

__all__ = [
    "display_name",
    "players",
    "region_name",
    "region_number",
    "server_id",
    "server_type",
    "state_name",
    "world_id",
    "world_type",
]


def players(candidate: int) -> list[str]:
    """The UUIDs of the players on the server or world, at most 200. One host call to data."""
    return ask(_candidates.players, candidate)
