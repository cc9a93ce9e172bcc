"""Players: profiles, data, addresses, statistics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from .. import _json
from .._call import Api, Call, Repeat, TransportT, existed, keyed, listed, model, operation, optional, path, query
from ..models import (
    DataEntry,
    IncrementedStatistic,
    IpRecord,
    LivePlayerProfile,
    LoadedPlayer,
    OpenedPlayerSession,
    PlayerSession,
    PlayerStatistics,
    PlayerSummaryPage,
    SavedSession,
    SessionData,
)


class PlayersApi(Api[TransportT]):
    """Players: profiles, data, addresses, statistics."""

    @operation
    def search(
        self,
        search: str | None = None,
        *,
        username: str | None = None,
        region: str | None = None,
        page: int = 0,
        limit: int = 50,
    ) -> Call[PlayerSummaryPage]:
        """Players ever seen, the latest first. `search` is a part of the name, `username` all of it; pages count from 0."""
        parameters = query(search=search, username=username, region=region, page=page, limit=limit)
        return Call("GET", path("players"), model(PlayerSummaryPage), parameters)

    @operation
    def get(self, player: UUID, game_mode: str | None = None) -> Call[LivePlayerProfile | None]:
        """A player, with where they are; None for one who was never seen."""
        return Call("GET", path("players", player), optional(LivePlayerProfile), query(game_mode=game_mode), is_optional=True)

    @operation
    def load(
        self,
        player: UUID,
        username: str | None = None,
        *,
        game_mode: str | None = None,
        game_type: str | None = None,
        ip: str | None = None,
        include: Iterable[str] = (),
    ) -> Call[LoadedPlayer]:
        """Loads a joining player, and records an unknown one.

        `game_mode` is whose data is read (None: `global`), `game_type` the engine, recorded on first sight; `ip` is located and
        forgotten. `include` says what else to answer: `permissions`, `punishments`, `language`, `balances`, `statistics`,
        `data:NAMESPACE`.
        """
        parameters = query(username=username, game_mode=game_mode, game_type=game_type, ip=ip, include=",".join(include) or None)
        return Call("POST", path("players", player, "load"), model(LoadedPlayer), parameters)

    @operation
    def get_data(self, player: UUID, game_mode: str, namespace: str) -> Call[DataEntry | None]:
        """A player's data; None where none was written."""
        target = path("players", player, "data", game_mode, namespace)
        return Call("GET", target, optional(DataEntry), is_optional=True)

    @operation
    def put_data(self, player: UUID, game_mode: str, namespace: str, data: str, version: int | None = None) -> Call[DataEntry]:
        """Writes a player's data: JSON as text, at most 256 KiB.

        `version` is what was read, so that nothing written meanwhile is lost: fails with `version_conflict`, and then read
        again and apply the change to that. 0 for what was never written; None overwrites.
        """
        target = path("players", player, "data", game_mode, namespace)
        # A repeat would find its own version and fail.
        repeat = Repeat.SAFE if version is None else Repeat.NEVER
        body = _json.present(data=data, version=version)
        return Call("PUT", target, model(DataEntry), body=body, repeat=repeat)

    @operation
    def delete_data(self, player: UUID, game_mode: str, namespace: str) -> Call[bool]:
        """Deletes a player's data; returns whether there was any."""
        return Call("DELETE", path("players", player, "data", game_mode, namespace), existed, is_optional=True)

    @operation
    def session(self, player: UUID) -> Call[PlayerSession | None]:
        """A player's newest session; None where there never was one."""
        return Call("GET", path("players", player, "session"), optional(PlayerSession), is_optional=True)

    @operation
    def open_session(
        self,
        player: UUID,
        server_id: str,
        username: str | None = None,
        *,
        wait_ms: int | None = None,
        game_mode: str | None = None,
        game_type: str | None = None,
        ip: str | None = None,
        include: Iterable[str] = (),
    ) -> Call[OpenedPlayerSession]:
        """Opens a session: the right to write the player's data, which one server has at a time.

        Waits up to `wait_ms` (None: 3 s) for the server that has it. The answer has the fence that saves name, and the player as
        `load` answers it, read after the session before ended. Opening again is safe. `PlayerDataStore` does all of this.
        """
        body = _json.present(
            server_id=server_id,
            wait_ms=wait_ms,
            game_mode=game_mode,
            game_type=game_type,
            username=username,
            ip=ip,
            include=list(include) or None,
        )
        return Call("POST", path("players", player, "session"), model(OpenedPlayerSession), body=body)

    @operation
    def save_session(
        self,
        player: UUID,
        fence: int,
        data: Sequence[SessionData] = (),
        *,
        complete: Sequence[str] = (),
        number: int | None = None,
        close: bool = False,
    ) -> Call[SavedSession]:
        """Saves data under a session's fence and completes the claims of deliveries; all or none. `close` ends the session.

        `number` rises with each save of a session, so that one that was given up cannot follow a later one. Fails with
        `stale_session` where the session is over, and with `stale_claim`. The same save again has no second effect.
        """
        body = _json.present(data=data or None, complete=complete or None, number=number, close=close or None)
        return Call("PUT", path("players", player, "session", fence), model(SavedSession), body=body)

    @operation
    def ips(self, player: UUID) -> Call[list[IpRecord]]:
        """The addresses a player was seen with, the current one first."""
        return Call("GET", path("players", player, "ips"), listed(IpRecord))

    @operation
    def statistics(self, player: UUID, game_mode: str | None = None) -> Call[PlayerStatistics]:
        """A player's statistics; None is the game mode `global`."""
        return Call("GET", path("players", player, "statistics"), model(PlayerStatistics), query(game_mode=game_mode))

    @operation
    def increment(self, player: UUID, name: str, amount: float = 1, game_mode: str | None = None) -> Call[IncrementedStatistic]:
        """Adds to a player's statistic, in the day, week, month and lifetime; None is the game mode `global`."""
        body = _json.present(name=name, game_mode=game_mode, amount=amount)
        target = path("players", player, "statistics", "increment")
        return Call("POST", target, model(IncrementedStatistic), body=body, **keyed())
