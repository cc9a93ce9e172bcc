"""Players and their data. Times are milliseconds since the Unix epoch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar
from uuid import UUID

from .economy import Balance, PlayerStatistics
from .permissions import EffectivePermissions, PlayerLanguage, Punishment

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A page of a list."""

    items: list[T]
    page: int
    """Its number, from 0."""
    limit: int
    total: int
    """How many there are on all pages."""


@dataclass(frozen=True, slots=True)
class PlayerConnection:
    """Where a player is."""

    server_id: str
    server_type: str
    world_id: str | None = None


@dataclass(frozen=True, slots=True)
class PlayerSummary:
    """A player in a list."""

    uuid: UUID
    first_seen: int
    last_seen: int
    online: bool
    username: str | None = None
    game_type: str | None = None
    connection: PlayerConnection | None = None
    region: str | None = None
    country: str | None = None


@dataclass(frozen=True, slots=True)
class NamespaceData:
    """A player's data in one namespace of a game mode."""

    namespace: str
    data: str
    """JSON as text, byte for byte as it was written."""
    version: int


@dataclass(frozen=True, slots=True)
class LoadedData:
    """What a load includes of a namespace named as `data:NAMESPACE`."""

    data: str
    version: int


@dataclass(frozen=True, slots=True)
class DataEntry:
    """A player's data, with where it belongs."""

    game_mode: str
    namespace: str
    data: str
    """JSON as text, byte for byte as it was written."""
    version: int
    """Counts the writes; send it back to write only over what was read."""


@dataclass(frozen=True, slots=True)
class PlayerProfile:
    """A player. What only some answers have is None, or empty, in the others."""

    uuid: UUID
    first_seen: int
    last_seen: int
    username: str | None = None
    game_type: str | None = None
    currencies: list[Balance] = field(default_factory=list)
    namespaces: list[NamespaceData] = field(default_factory=list)
    """The data of the game mode that was asked for."""
    region: str | None = None
    country: str | None = None
    online: bool | None = None
    """None in the answer of a load."""
    connection: PlayerConnection | None = None
    permissions: EffectivePermissions | None = None
    """With `include=permissions`."""
    punishments: list[Punishment] | None = None
    """The active ones, with `include=punishments`."""
    language: PlayerLanguage | None = None
    """With `include=language`."""
    balances: list[Balance] | None = None
    """With `include=balances`."""
    statistics: PlayerStatistics | None = None
    """With `include=statistics`."""
    data: dict[str, LoadedData | None] = field(default_factory=dict)
    """By namespace, with `include=data:NAMESPACE`; None for what was never written."""


@dataclass(frozen=True, slots=True)
class IpRecord:
    """An address a player was seen with."""

    ip_address: str
    first_seen: int
    last_seen: int
    region: str | None = None
    country: str | None = None
    geo_resolved_at: int | None = None
