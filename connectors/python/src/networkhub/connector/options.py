"""The settings of a connector, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ..api.servers import ServerState
from ..models import LoadedPlayer, Punishment
from .player_data import PlayerDataHandler


@dataclass(frozen=True, kw_only=True)
class ConnectorOptions:
    """The settings of a connector. All have defaults that fit most servers; times are seconds."""

    state: ServerState = ServerState()
    """The state at the start."""
    events: Sequence[str] = ()
    """More events to listen to, such as `PLAYER_JOINED`; see `HubConnector.on`."""
    namespace: str | None = None
    """Namespace of the plugin's own messages."""
    messages: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The plugin's own messages, by language, then by key; used until the network has others."""
    namespaces: Sequence[str] = ()
    """More namespaces to read messages from."""
    default_locale: str = "en"
    """The language of last resort."""
    permission_context: str | None = None
    """Context of this server's permissions, such as `server=lobby`; None: only permissions without a context apply."""
    game_mode: str | None = None
    """Game mode whose data a join loads; None is `global`."""
    game_type: str | None = None
    """The engine of players who join: `MINECRAFT` or `HYTALE`."""
    load: Sequence[str] = ()
    """More that a join loads besides permissions, punishments and language: `balances`, `statistics`, `data:NAMESPACE`."""
    player_data: PlayerDataHandler | None = None
    """Reads and writes players in the game; with `player_namespaces` their data moves with them (`HubConnector.player_data`)."""
    player_namespaces: Sequence[str] = ()
    """The namespaces of the data that moves with players, such as `inventory`."""
    autosave: float = 60.0
    """Seconds between saves of a player; 0: only when they leave."""
    allow_unverified: bool = False
    """While the hub is away, lets players join of whom nothing current is known: bans fail open."""
    trust_clean: float = 600.0
    """For how long into an outage players may come back who were checked before it and had no ban."""
    join_timeout: float = 4.0
    """Maximum wait of a join for the hub."""

    def __post_init__(self) -> None:
        if self.messages and self.namespace is None:
            raise ValueError("messages need a namespace to be registered under")

    @property
    def all_namespaces(self) -> list[str]:
        """The namespaces to read messages from, the plugin's own first."""
        return [*([] if self.namespace is None else [self.namespace]), *self.namespaces]


@dataclass(frozen=True, slots=True)
class JoinDecision:
    """Decision whether a player may join."""

    allowed: bool
    reason: Literal["BANNED", "NOT_VERIFIED"] | None = None
    """Reason of a refusal: a ban, or the hub is away and the player is not known to be clean."""
    ban: Punishment | None = None
    profile: LoadedPlayer | None = None
    """The player as the hub has loaded them; None where the hub was away or they may not join."""


@dataclass(frozen=True, slots=True)
class ConnectorStatus:
    """State of a connector."""

    registered: bool
    """True if the server is registered."""
    stream_open: bool
    """True if the event stream is open."""
    pending_changes: int
    """Joins, leaves and changes of worlds that the hub has not confirmed."""
    last_error: str | None
    """Last error as a sentence; None while there is none."""

    @property
    def is_connected(self) -> bool:
        """True if the server is registered and its event stream is open."""
        return self.registered and self.stream_open and self.last_error is None
