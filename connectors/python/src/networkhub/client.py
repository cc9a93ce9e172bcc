"""All calls of a game server to its hub, for asyncio and for threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Generic

import httpx

from ._call import Answer, Api, Call, Repeat, TransportT, keyed, model, operation
from ._json import plain
from ._transport import AsyncTransport, RetryPolicy, Settings, SyncTransport
from .api.deliveries import DeliveriesApi
from .api.documents import CollectionsApi, ConfigApi
from .api.economy import EconomyApi
from .api.matchmaking import MatchmakingApi, TransfersApi
from .api.permissions import LocalizationApi, PermissionsApi
from .api.players import PlayersApi
from .api.punishments import PunishmentsApi
from .api.servers import ServersApi
from .api.worlds import ChatApi, WorldsApi
from .events import AsyncEventStream, EventStream
from .models import BuildStamp

_SILENCE = 40.0
"""Seconds after which a silent stream is taken for dead; the hub pings every 15."""


class _Calls(Api[TransportT], Generic[TransportT]):
    """The calls by area."""

    def __init__(self, transport: TransportT) -> None:
        super().__init__(transport)
        self.servers = ServersApi(transport)
        """Servers: registration, heartbeats, who is where."""
        self.players = PlayersApi(transport)
        """Players: profiles, data, addresses, statistics."""
        self.economy = EconomyApi(transport)
        """Money, and the statistics of owners that are no players."""
        self.matchmaking = MatchmakingApi(transport)
        """Finding servers and worlds."""
        self.transfers = TransfersApi(transport)
        """Sending players to other servers."""
        self.punishments = PunishmentsApi(transport)
        """Bans, mutes, warnings, kicks."""
        self.permissions = PermissionsApi(transport)
        """Groups and what players may do."""
        self.localization = LocalizationApi(transport)
        """Messages and languages."""
        self.config = ConfigApi(transport)
        """Config documents."""
        self.collections = CollectionsApi(transport)
        """Documents with indexes."""
        self.worlds = WorldsApi(transport)
        """Worlds on demand."""
        self.deliveries = DeliveriesApi(transport)
        """Things owed to players."""
        self.chat = ChatApi(transport)
        """The network's chat."""

    @operation
    def version(self) -> Call[BuildStamp]:
        """The hub's build."""
        return Call("GET", "/api/version", model(BuildStamp))

    @operation
    def call(self, method: str, path: str, body: Any = None) -> Call[Any]:
        """Any other call, such as one that is newer than this library; None for an answer without a body.

        `path` is escaped and has its query, `body` is sent as JSON. A POST carries an `Idempotency-Key`.
        """

        def read(answer: Answer) -> Any:
            return plain(answer.parse()) if answer.text else None

        if method == "POST":
            return Call(method, path, read, body=body, **keyed())
        return Call(method, path, read, body=body, repeat=Repeat.NEVER if method == "PATCH" else Repeat.SAFE)


class AsyncHubClient(_Calls[AsyncTransport]):
    """All calls of a game server to its hub, on an asyncio event loop.

    Errors: calls raise `HubError`; its `code` is for programs, its text for people.

    Repeats: calls that may be repeated without a second effect are, after a delay, where no answer came or the hub was
    stopping or over a rate limit (`RetryPolicy`). Others that change something carry an `Idempotency-Key`, with which
    the hub carries out a repeat once. Two calls are made once only: `players.put_data` with a version, because a repeat
    would find its own version, and the heartbeat, because the next one says more.

    Units: times are milliseconds since the Unix epoch, as on the wire; spans are seconds, unless a name ends in `_ms`.
    """

    def __init__(
        self,
        url: str,
        api_key: str,
        *,
        timeout: float = 15.0,
        connect_timeout: float = 5.0,
        retry: RetryPolicy | None = None,
    ) -> None:
        settings = Settings(url, api_key, timeout, connect_timeout, retry or RetryPolicy())
        super().__init__(AsyncTransport(settings, httpx.AsyncClient()))

    def with_options(self, *, timeout: float | None = None, retry: RetryPolicy | None = None) -> AsyncHubClient:
        """The same client, over the same connections, with another time limit for attempts or policy for repeats."""
        other = AsyncHubClient.__new__(AsyncHubClient)
        _Calls.__init__(other, AsyncTransport(_changed(self._transport.settings, timeout, retry), self._transport.http))
        return other

    def events(self, server_id: str | None = None, types: Sequence[str] = ()) -> AsyncEventStream:
        """The event stream: `async for event in client.events(): …`.

        It reconnects by itself and resumes after the last event that was handled, which is when the next one is asked for. Where
        the hub no longer can, RESYNC comes: read again what you keep. `server_id` is whose commands it carries (None: only
        what is for the whole network), `types` the events (none: the hub's usual ones).
        """
        return AsyncEventStream(self._transport, server_id, types, _SILENCE)

    async def aclose(self) -> None:
        """Closes all connections."""
        await self._transport.http.aclose()

    async def __aenter__(self) -> AsyncHubClient:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.aclose()


class HubClient(_Calls[SyncTransport]):
    """All calls of a game server to its hub, for threads: a call waits for its answer. May be used by several threads.

    The same as `AsyncHubClient` in all else.
    """

    def __init__(
        self,
        url: str,
        api_key: str,
        *,
        timeout: float = 15.0,
        connect_timeout: float = 5.0,
        retry: RetryPolicy | None = None,
    ) -> None:
        settings = Settings(url, api_key, timeout, connect_timeout, retry or RetryPolicy())
        super().__init__(SyncTransport(settings, httpx.Client()))

    def with_options(self, *, timeout: float | None = None, retry: RetryPolicy | None = None) -> HubClient:
        """The same client, over the same connections, with another time limit for attempts or policy for repeats."""
        other = HubClient.__new__(HubClient)
        _Calls.__init__(other, SyncTransport(_changed(self._transport.settings, timeout, retry), self._transport.http))
        return other

    def events(self, server_id: str | None = None, types: Sequence[str] = ()) -> EventStream:
        """The event stream: `for event in client.events(): …` in a thread of its own. See `AsyncHubClient.events`."""
        return EventStream(self._transport, server_id, types, _SILENCE)

    def close(self) -> None:
        """Closes all connections."""
        self._transport.http.close()

    def __enter__(self) -> HubClient:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _changed(settings: Settings, timeout: float | None, retry: RetryPolicy | None) -> Settings:
    return replace(settings, timeout=timeout or settings.timeout, retry=retry or settings.retry)
