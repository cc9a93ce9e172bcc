"""Matches, transfers and worlds on demand. Times are milliseconds since the Unix epoch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from .servers import LiveServer, World


@dataclass(frozen=True, slots=True)
class MatchResult:
    """What matchmaking found. Not finding a place is an answer, too, and no error."""

    success: bool
    result: str
    """`SUCCESS`, or the reason there is none, such as `ALL_SERVERS_FULL`."""
    error_message: str | None = None
    matched_server: LiveServer | None = None
    """Where to send the player; None without a match."""
    matched_world: World | None = None
    transfer_id: str | None = None
    """The reservation, good for 15 seconds."""
    warm: bool = False
    """Whether the owner's world was already up there."""


@dataclass(frozen=True, slots=True)
class RegionCount:
    """The servers and players of a region."""

    region: str
    servers: int
    players: int


@dataclass(frozen=True, slots=True)
class TransferCommand:
    """A signed command to send a player to another server, good for one use."""

    transfer_id: str
    player_uuid: UUID
    target_server_id: str
    host: str
    port: int
    issued_at: int
    expires_at: int
    target_world_id: str | None = None
    signature: str = ""
    """One or several, separated by spaces."""


@dataclass(frozen=True, slots=True)
class TransferOutcome:
    """How asking for a transfer went. SUCCESS means that the command is on its way."""

    transfer_id: str
    player_uuid: UUID
    result: str
    """`SUCCESS`, or why not, such as `PLAYER_OFFLINE` or `NOT_CONNECTED`."""
    success: bool
    error_message: str | None = None


@dataclass(frozen=True, slots=True)
class WorldSeed:
    """What a world is made from, as the node understands it."""

    ref: str | None = None
    format: str | None = None
    x: float | None = None
    y: float | None = None
    z: float | None = None


@dataclass(frozen=True, slots=True)
class OpenWorldRequest:
    """A world to be opened for its owner."""

    game_id: str
    owner_scope: str
    owner_id: str
    world_key: str | None = None
    """Which of the owner's worlds; None is `default`."""
    prefer_node: str | None = None
    """The server to run it on, if it has room."""
    seed: WorldSeed | None = None
    persistence: Literal["PERSISTENT", "EPHEMERAL"] | None = None
    """None is PERSISTENT."""
    world_gen: str | None = None

    @classmethod
    def for_player(cls, game_id: str, player: UUID, world_key: str | None = None) -> OpenWorldRequest:
        """A player's world; a slot for them is reserved when it is up."""
        return cls(game_id, "player", str(player), world_key)


@dataclass(frozen=True, slots=True)
class OpenedWorld:
    """The answer to opening a world."""

    success: bool
    """Whether it is or will be up."""
    status: str | None = None
    """`READY` or `LOADING`."""
    world_instance_id: str | None = None
    """The lease."""
    error_message: str | None = None
    matched_server: LiveServer | None = None
    """Where it is up; None while it is loading."""
    transfer_id: str | None = None
    """The reservation for its owner."""


@dataclass(frozen=True, slots=True)
class WorldOwner:
    """Whose world it is."""

    scope: str
    id: str


@dataclass(frozen=True, slots=True)
class WorldLease:
    """The right to run a world, as it stands."""

    world_instance_id: str
    state: str
    """`LOADING`, `READY`, `DRAINING`, `UNLOADED` or `LOST`."""
    fence: int
    """To be sent with each callback."""
    lease_ms: int
    """How long it lasts from each heartbeat."""
    expires_at: int
    player_count: int = 0
    node_server_id: str | None = None
    """The node that holds it; None while it waits."""


@dataclass(frozen=True, slots=True)
class WorldOpenCommand:
    """Tells a node to boot a world."""

    world_id: int
    """The lease."""
    fence: int
    lease_ms: int
    world_key: str
    game_id: str
    owner: WorldOwner
    persistence: str
    seed: WorldSeed | None = None
    world_gen: str | None = None
    blob_key: str | None = None
    """Its snapshot, for nodes with a store of their own."""
    snapshot_url: str | None = None
    """Its snapshot, to be fetched without a key."""


@dataclass(frozen=True, slots=True)
class UploadUrl:
    """Where to upload a snapshot."""

    url: str
    method: str
    headers: dict[str, str]
    blob_key: str
    expires_at: int
