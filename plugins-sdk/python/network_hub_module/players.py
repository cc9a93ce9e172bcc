"""The hub's data about the players of this network. Read only.

Each function is one of the call's 8 host calls to data, and raises ``HostError`` if the hub cannot answer.
"""

from wit_world.imports import players as _players
from wit_world.imports.players import Location, Period, PermissionState, Punishment, PunishmentFilter
from wit_world.imports.types import PunishmentKind

from ._host import ask

__all__ = [
    "Location",
    "Period",
    "PermissionState",
    "Punishment",
    "balance",
    "online",
    "online_players",
    "permission",
    "punishments",
    "statistics",
]


def statistics(
    players: list[str], name: str, *, game_mode: str | None = None, period: Period = Period.LIFETIME
) -> list[float | None]:
    """One statistic of at most 100 players, in the given order; ``None`` for a player without a value."""
    return ask(_players.statistics, players, name, game_mode, period)


def balance(player: str, currency: str) -> int | None:
    """A player's balance in ten-thousandths of the currency's unit; ``None`` if there is no such currency."""
    return ask(_players.balance, player, currency)


def permission(player: str, node: str, *, context: str | None = None, world: str | None = None) -> PermissionState:
    """Resolves a permission node of a player, in a context and world if given."""
    return ask(_players.permission, player, node, context, world)


def punishments(
    player: str, *, since_ms: int | None = None, kind: PunishmentKind | None = None, limit: int = 100
) -> list[Punishment]:
    """A player's punishments, newest first, revoked and expired ones included; at most ``limit`` (1 to 100)."""
    return ask(_players.punishments, player, PunishmentFilter(since_ms, kind, limit))


def online(player: str) -> Location | None:
    """Location of a player; ``None`` when offline."""
    return ask(_players.online, player)


def online_players(*, after: str | None = None, limit: int = 200) -> list[str]:
    """UUIDs of online players in their order, those after ``after``: 1 to 200. It needs contract 1.1."""
    return ask(_players.online_players, after, limit)
