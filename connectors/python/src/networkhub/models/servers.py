"""Servers, who is on them, and what the hub asks of them. Times are milliseconds since the Unix epoch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID

Role = Literal["GAME", "PROXY"]
"""What a server is."""


@dataclass(frozen=True, slots=True)
class PluginReport:
    """A plugin that a server runs."""

    name: str
    version: str | None = None
    enabled: bool | None = None


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What a server registers with: an id of its own, a type that matchmaking finds it by, a port that players reach it at."""

    server_id: str
    server_type: str
    port: int
    host: str | None = None
    """Where players reach it; None is the address that the hub sees."""
    display_name: str | None = None
    game_type: str | None = None
    """Its engine: `MINECRAFT` or `HYTALE`."""
    role: Role | None = None
    """None is GAME."""
    max_players: int | None = None
    """None is no limit."""
    public_ip: str | None = None
    """Its address on the internet, to find its region by, where `host` is none."""
    region: str | None = None
    """Such as `EUROPE`; None is that of its addresses."""
    plugin_version: str | None = None
    plugin_build: int | None = None
    plugin_commit: str | None = None
    platform_name: str | None = None
    platform_version: str | None = None
    plugins: list[PluginReport] | None = None


@dataclass(frozen=True, slots=True)
class WorldState:
    """A world of a server."""

    world_id: str
    display_name: str | None = None
    current_players: int = 0
    max_players: int = 0
    """0 is no limit."""
    game_state: str | None = None
    players_to_start: int = 0
    """0 is no minigame."""
    world_type: str | None = None
    """What matchmaking finds it by."""


@dataclass(frozen=True, slots=True)
class ServerState:
    """What changes while a server runs. None leaves what the hub knows as it was."""

    game_state: str | None = None
    """Such as `WAITING` or `PLAYING`."""
    players_to_start: int | None = None
    """0 is no minigame."""
    worlds: list[WorldState] | None = None
    """All its worlds."""


@dataclass(frozen=True, slots=True)
class PlayerName:
    """A player with a name, for heartbeats."""

    uuid: UUID
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Registered:
    """The answer to a registration."""

    server_id: str
    heartbeat_interval_ms: int
    offline_after_ms: int
    """The silence after which the hub takes the server for offline."""
    signing_secret: str
    """Verifies transfer commands; the network's, so keep it secret."""


@dataclass(frozen=True, slots=True)
class OnlinePlayer:
    """A player who is on a server."""

    player_uuid: UUID
    server_id: str
    server_type: str
    player_name: str | None = None


@dataclass(frozen=True, slots=True)
class World:
    """A world of a server that is online."""

    world_id: str
    display_name: str | None = None
    current_players: int = 0
    max_players: int = 0
    game_state: str | None = None
    players_to_start: int = 0
    world_type: str | None = None
    full: bool = False
    player_count_display: str = ""
    """Such as `12/100`."""
    joinable: bool = False
    minigame_world: bool = False
    players_needed_to_start: int = 0


@dataclass(frozen=True, slots=True)
class LiveServer:
    """A server that is online."""

    server_id: str
    server_type: str
    host: str
    port: int
    game_type: str | None = None
    display_name: str | None = None
    current_players: int = 0
    max_players: int = 0
    started_at: int = 0
    last_heartbeat: int = 0
    game_state: str | None = None
    players_to_start: int = 0
    region: str | None = None
    worlds: list[World] = field(default_factory=list)
    full: bool = False
    player_count_display: str = ""
    joinable: bool = False
    """Not full, and in a state that lets players in."""
    minigame_server: bool = False
    players_needed_to_start: int = 0
    total_players: int = 0
    """The larger of its players and those of its worlds."""


@dataclass(frozen=True, slots=True)
class ServerRecord:
    """A server of the registry, online or not."""

    server_id: str
    server_type: str
    role: Role
    connectivity: str
    """`CONNECTED`, `HEARTBEAT_ONLY` or `DISCONNECTED`."""
    status: str
    """`ONLINE`, `OFFLINE` or `PROVISIONING`."""
    max_players: int
    last_host: str
    last_port: int
    first_seen: int
    last_seen: int
    online: bool
    """Whether its heartbeats come."""
    game_type: str | None = None
    display_name: str | None = None
    live: LiveServer | None = None
    """What it reports, if online."""
    geo_region: str | None = None
    geo_country: str | None = None


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line of a server's console."""

    at: int
    stream: Literal["stdout", "stderr"]
    text: str


@dataclass(frozen=True, slots=True)
class ConsoleCommand:
    """A command that the hub wants run on a server's console."""

    request_id: str
    """To answer with."""
    command: str
    """The line, without a slash in front."""
    timeout_ms: int
    """How long the caller waits."""
    at: int
    """When it was sent, by the hub's clock."""


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A line of the network's chat."""

    player_uuid: UUID
    player_name: str
    message: str
    """1 to 1,024 characters."""
    server_id: str
    server_type: str | None = None
    world: str | None = None
    rank: str | None = None
    rank_color: str | None = None
    rank_bold: bool | None = None
    color_name_also: bool | None = None


@dataclass(frozen=True, slots=True)
class BuildStamp:
    """The build of a hub."""

    component: str
    version: str
    build: int
    commit: str
    build_time: str
    dev: bool
