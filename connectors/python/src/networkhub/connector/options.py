"""The settings of a connector, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ..api.servers import ServerState
from ..models import LoadedPlayer, Punishment


@dataclass(frozen=True, kw_only=True)
class ConnectorOptions:
    """The settings of a connector. All have defaults that fit most servers; times are seconds."""

    state: ServerState = ServerState()
    """The state at the start."""
    events: Sequence[str] = ()
    """More events to listen to, such as `PLAYER_JOINED`; see `HubConnector.on`."""
    namespace: str | None = None
    """Where the plugin's own messages are registered."""
    messages: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The plugin's own messages, by language, then by key; used until the network has others."""
    namespaces: Sequence[str] = ()
    """More namespaces to read messages from."""
    default_locale: str = "en"
    """The language of last resort."""
    permission_context: str | None = None
    """Where this server is for permissions, such as `server=lobby`; None: only permissions that count everywhere do."""
    game_mode: str | None = None
    """Whose data a join loads; None is `global`."""
    game_type: str | None = None
    """The engine of players who join: `MINECRAFT` or `HYTALE`."""
    load: Sequence[str] = ()
    """What a join loads besides permissions, punishments and language: `balances`, `statistics`, `data:NAMESPACE`."""
    allow_unverified: bool = False
    """While the hub is away, lets players join of whom nothing current is known: bans fail open."""
    trust_clean: float = 600.0
    """For how long into an outage players may come back who were checked before it and had no ban."""
    join_timeout: float = 4.0
    """How long a join may wait for the hub."""

    def __post_init__(self) -> None:
        if self.messages and self.namespace is None:
            raise ValueError("messages need a namespace to be registered under")

    @property
    def all_namespaces(self) -> list[str]:
        """The namespaces to read messages from, the plugin's own first."""
        return [*([] if self.namespace is None else [self.namespace]), *self.namespaces]


@dataclass(frozen=True, slots=True)
class JoinDecision:
    """Whether a player may join."""

    allowed: bool
    reason: Literal["BANNED", "NOT_VERIFIED"] | None = None
    """Why not: a ban, or the hub is away and nothing current is known of the player."""
    ban: Punishment | None = None
    profile: LoadedPlayer | None = None
    """The player as the hub has loaded them; None where the hub was away or they may not join."""


@dataclass(frozen=True, slots=True)
class ConnectorStatus:
    """How a connector is doing."""

    registered: bool
    """Whether the hub knows the server."""
    stream_open: bool
    """Whether events come."""
    pending_changes: int
    """Joins, leaves and changes of worlds that the hub has not confirmed."""
    last_error: str | None
    """What went wrong last, for people; None while all is well."""

    @property
    def is_connected(self) -> bool:
        """Whether the hub hears the server and the server hears the hub."""
        return self.registered and self.stream_open and self.last_error is None
