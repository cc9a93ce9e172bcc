"""Servers: registration, heartbeats, who is where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from .. import _json
from .._call import Answer, Api, Call, Repeat, TransportT, keyed, model, nothing, operation, path, query
from ..models import (
    HeartbeatPlayer,
    ListedServerPage,
    LogBatchLine,
    PresenceRecord,
    ServerRegistration,
    ServerSession,
    WorldReport,
)


@dataclass(frozen=True, slots=True)
class ServerState:
    """A server's changing state. None leaves the hub's knowledge unchanged."""

    game_state: str | None = None
    """State of its game, such as `WAITING` or `PLAYING`."""
    players_to_start: int | None = None
    """Players that its game needs; 0 if it is no minigame."""
    worlds: list[WorldReport] | None = None
    """All its worlds."""


class ServersApi(Api[TransportT]):
    """Servers: registration, heartbeats, who is where. A `HubConnector` makes most of these calls itself."""

    @operation
    def register(self, server: ServerRegistration, state: ServerState | None = None) -> Call[ServerSession]:
        """Registers a server and marks it online. Again replaces what was registered; players stay."""
        body = _json.fields_of(server) | _json.fields_of(state or ServerState())
        return Call("POST", path("servers", "register"), model(ServerSession), body=body)

    @operation
    def heartbeat(
        self, server_id: str, state: ServerState | None = None, players: Sequence[HeartbeatPlayer] | None = None
    ) -> Call[None]:
        """Keeps a server online. Fails with `unknown_server` where it has to register again. Never repeated.

        `players` are all who are on it: others have left. None leaves them as they were.
        """
        body = _json.present(server_id=server_id, players=players) | _json.fields_of(state or ServerState())
        return Call("POST", path("servers", "heartbeat"), nothing, body=body, repeat=Repeat.NEVER)

    @operation
    def unregister(self, server_id: str) -> Call[None]:
        """Takes a server offline at once; one that is unknown stays so."""
        return Call("POST", path("servers", "unregister"), nothing, query(server_id=server_id))

    @operation
    def join(
        self, server_id: str, player: UUID, player_name: str | None = None, *, idempotency_key: str | None = None
    ) -> Call[None]:
        """Puts a player on a server, and ends the transfer that sent them there. A player is on one server at most.

        With the same key it counts once, however often it is sent.
        """
        body = _json.present(server_id=server_id, player_uuid=player, player_name=player_name)
        return Call("POST", path("servers", "players"), nothing, body=body, **keyed(idempotency_key))

    @operation
    def change_world(self, server_id: str, player: UUID, new_world_id: str, previous_world_id: str | None = None) -> Call[None]:
        """Moves a player to another world of their server. Fails with `player_not_on_server`."""
        body = _json.present(
            server_id=server_id, player_uuid=player, new_world_id=new_world_id, previous_world_id=previous_world_id
        )
        return Call("POST", path("servers", "players", "world"), nothing, body=body)

    @operation
    def leave(self, server_id: str, player: UUID) -> Call[None]:
        """Takes a player off this server; one who is elsewhere by now stays there."""
        return Call("DELETE", path("servers", "players", player), nothing, query(server_id=server_id))

    @operation
    def search(
        self,
        server_type: str | None = None,
        *,
        online: bool | None = None,
        region: str | None = None,
        search: str | None = None,
        page: int = 0,
        limit: int = 50,
    ) -> Call[ListedServerPage]:
        """The servers of the network, online or not. Pages count from 0."""
        parameters = query(server_type=server_type, online=online, region=region, search=search, page=page, limit=limit)
        return Call("GET", path("servers"), model(ListedServerPage), parameters)

    @operation
    def online_players(self, server_type: str | None = None) -> Call[list[PresenceRecord]]:
        """The players who are online on servers of a type; None for all."""

        def read_from(cursor: str | None, before: list[PresenceRecord]) -> Call[list[PresenceRecord]]:
            def read(answer: Answer) -> list[PresenceRecord] | Call[list[PresenceRecord]]:
                players = [*before, *answer.read_list(PresenceRecord)]
                # A header has the cursor of the next part, if there is one.
                following = answer.headers.get("next-cursor")
                return read_from(following, players) if following else players

            return Call("GET", path("servers", "players"), read, query(server_type=server_type, cursor=cursor))

        return read_from(None, [])

    @operation
    def report_command(self, request_id: str, success: bool, output: str | None = None, error: str | None = None) -> Call[None]:
        """Reports the outcome of a console command. An answer that comes too late is accepted and discarded."""
        body = _json.present(request_id=request_id, success=success, output=output, error=error)
        return Call("POST", path("servers", "command-result"), nothing, body=body)

    @operation
    def ship_logs(self, server_id: str, lines: Sequence[LogBatchLine]) -> Call[None]:
        """Ships lines of the console; the hub keeps the newest 5,000 of a server."""
        return Call("POST", path("servers", server_id, "logs"), nothing, body={"lines": lines}, **keyed())
