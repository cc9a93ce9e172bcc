"""The connector for games with threads."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, TypeVar
from uuid import UUID

from ..api.servers import ServerState
from ..client import AsyncHubClient, HubClient
from ..errors import HubError
from ..events import HubEvent
from ..models import (
    Delivery,
    LanguageSource,
    OpenedWorld,
    PlayerLanguage,
    ServerRegistration,
    Ticket,
    TicketMatched,
    TicketRequest,
    TransferOutcome,
    WorldRequest,
)
from .deliveries import DeliveryHandler
from .game import GameServer
from .hub_connector import HubConnector
from .lines import Place
from .localization_cache import CachedConfig, LocalizationCache
from .options import ConnectorOptions, ConnectorStatus, JoinDecision
from .permission_cache import PermissionCache
from .persist import cancel_all
from .player_data import PlayerDataStore
from .punishment_cache import PunishmentCache
from .transfers import TransferVerifier

T = TypeVar("T")


class ThreadedHubConnector:
    """A `HubConnector` in a thread of its own, for games without asyncio.

    Every method may be called from any thread and returns at once; none waits for the network, except `stop`. What is answered
    later is a `concurrent.futures.Future`, which fails with `HubError`: add a callback, or wait for its `result()` in a thread
    that may wait. Listeners are called on the connector's thread and must not block; `GameServer` is called on the game's main
    thread, which `GameServer.run_on_main_thread` has to be overridden for.
    """

    def __init__(
        self, client: HubClient, info: ServerRegistration, game: GameServer, options: ConnectorOptions | None = None
    ) -> None:
        self.client = client
        """The client, for calls that the connector does not make itself; they wait for their answers."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="hub-connector", daemon=True)
        self._stopping = threading.Lock()
        self._is_stopped = False
        settings = client._transport.settings
        self._async_client = AsyncHubClient(
            settings.url,
            settings.api_key,
            timeout=settings.timeout,
            connect_timeout=settings.connect_timeout,
            retry=settings.retry,
        )
        self._connector = HubConnector(self._async_client, info, game, options)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.close()

    def start(self) -> None:
        """Begins to connect. Once."""
        self._thread.start()
        self._call(self._connector.start)

    def stop(self, timeout: float = 10.0) -> None:
        """Tells the hub what is still waiting, takes the server offline and ends the connector. Waits for so many seconds."""
        with self._stopping:
            if self._is_stopped or not self._thread.is_alive():
                return
            self._is_stopped = True
            # Captured by the caller.
            self._connector.player_data.leave_all()
            stopped = asyncio.run_coroutine_threadsafe(self._stop(), self._loop)
            try:
                stopped.result(timeout)
            except concurrent.futures.TimeoutError:
                pass
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(timeout)

    async def _stop(self) -> None:
        await self._connector.stop()
        await self._async_client.aclose()
        # Calls that are still under way.
        await cancel_all(task for task in asyncio.all_tasks() if task is not asyncio.current_task())

    def __enter__(self) -> ThreadedHubConnector:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    @property
    def info(self) -> ServerRegistration:
        """Registration of the server."""
        return self._connector.info

    @property
    def status(self) -> ConnectorStatus:
        """Returns the connector's state."""
        return self._connector.status

    def wait_until_connected(self, timeout: float | None = None) -> None:
        """Waits until the hub hears the server and the server hears the hub; raises `TimeoutError` after so many seconds."""
        waiting = self._future(self._connector.wait_until_connected())
        try:
            waiting.result(timeout)
        except concurrent.futures.TimeoutError:
            waiting.cancel()
            raise TimeoutError(self.status.last_error or "the hub did not answer in time") from None

    def check_join(self, player: UUID, name: str, ip: str | None = None) -> concurrent.futures.Future[JoinDecision]:
        """Asks whether a player may join, and loads them; call it before they do. See `HubConnector.check_join`."""
        return self._future(self._connector.check_join(player, name, ip))

    def player_joined(self, player: UUID, name: str) -> None:
        """A player is on this server now. Tell of everybody who is online already when the connector starts, too."""
        self._call(self._connector.player_joined, player, name)

    def player_changed_world(self, player: UUID, world_id: str, previous_world_id: str | None = None) -> None:
        """A player went to another world of this server."""
        self._call(self._connector.player_changed_world, player, world_id, previous_world_id)

    def player_left(self, player: UUID) -> None:
        """A player is no longer on this server. The caller captures their data, so call it while the game still has them."""
        self._connector.player_data.leave(player)
        self._call(self._connector.player_left, player)

    def set_state(self, state: ServerState) -> None:
        """The game's state or the worlds have changed; the hub learns it at once."""
        self._call(self._connector.set_state, state)

    def transfer(
        self, player: UUID, target_server_id: str, world_id: str | None = None
    ) -> concurrent.futures.Future[TransferOutcome]:
        """Sends a player to another server, wherever they are. See `HubConnector.transfer`."""
        return self._future(self._connector.transfer(player, target_server_id, world_id))

    @property
    def player_data(self) -> PlayerDataStore:
        """Data of players that moves with them; for `save` see `save_player`."""
        return self._connector.player_data

    def save_player(self, player: UUID) -> concurrent.futures.Future[None]:
        """Saves a player's data now. See `PlayerDataStore.save`."""
        return self._future(self._connector.player_data.save(player))

    def on_delivery(self, kind: str, handler: DeliveryHandler) -> None:
        """Carries out deliveries of a kind. See `HubConnector.on_delivery`."""
        self._connector.on_delivery(kind, handler)

    def on_data_delivery(self, kind: str, handler: Callable[[Delivery], None]) -> None:
        """Carries out deliveries whose effect is part of the player's data. See `HubConnector.on_data_delivery`."""
        self._connector.on_data_delivery(kind, handler)

    def wait_in_line(self, request: TicketRequest) -> concurrent.futures.Future[Ticket]:
        """Takes a ticket for a server or world that may be full. See `HubConnector.wait_in_line`."""
        return self._future(self._connector.wait_in_line(request))

    def leave_line(self, player: UUID) -> concurrent.futures.Future[bool]:
        """Ends a player's ticket; whether they had one."""
        return self._future(self._connector.leave_line(player))

    def place(self, player: UUID) -> Place | None:
        """A player's place in their line; None if they do not wait."""
        return self._connector.place(player)

    def on_place(self, listener: Callable[[Place], object]) -> None:
        """Calls this with each new place of a player of this server, on the connector's thread."""
        self._connector.on_place(listener)

    def on_match(self, listener: Callable[[TicketMatched], object]) -> None:
        """Calls this when slots are held for a player. See `HubConnector.on_match`."""
        self._connector.on_match(listener)

    def open_world(self, request: WorldRequest) -> concurrent.futures.Future[OpenedWorld]:
        """Opens a world and waits until it is up, for up to a minute; fails with `world_timeout`."""
        return self._future(self._connector.open_world(request))

    def send_chat(self, player: UUID, name: str, message: str) -> concurrent.futures.Future[None]:
        """Sends a line to the whole network; it comes back to `GameServer.show_chat`. See `HubConnector.send_chat`."""
        return self._future(self._connector.send_chat(player, name, message))

    def set_language(
        self, player: UUID, locale: str | None, source: LanguageSource = "PLAYER"
    ) -> concurrent.futures.Future[PlayerLanguage]:
        """Sets a player's language at the hub and here; None unsets it."""
        return self._future(self._connector.localization.set_language(player, locale, source))

    @property
    def punishments(self) -> PunishmentCache:
        """The punishments that are known."""
        return self._connector.punishments

    @property
    def permissions(self) -> PermissionCache:
        """Permissions of players."""
        return self._connector.permissions

    @property
    def localization(self) -> LocalizationCache:
        """Messages and languages."""
        return self._connector.localization

    @property
    def transfer_verifier(self) -> TransferVerifier:
        """Verifies commands that another server has handed to this one."""
        return self._connector.transfer_verifier

    def hub_time(self) -> int:
        """The time by the hub's clock, in milliseconds since the epoch, as its pings show."""
        return self._connector.hub_time()

    def config(self, group: str, namespace: str, default_doc: Any) -> CachedConfig:
        """A config document that is kept current; the default is stored where the network has none."""
        config = CachedConfig(self._async_client, group, namespace, default_doc)
        self._call(self._connector._keep_config, config)
        return config

    def on(self, type: str, listener: Callable[[HubEvent], object]) -> None:
        """Calls this with every event of a type, on the connector's thread. See `HubConnector.on`."""
        self._call(self._connector.on, type, listener)

    def _call(self, method: Callable[..., object], *arguments: object) -> None:
        try:
            self._loop.call_soon_threadsafe(method, *arguments)
        except RuntimeError:
            pass  # The connector has stopped.

    def _future(self, work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        if self._is_stopped or self._loop.is_closed():
            work.close()
            failed: concurrent.futures.Future[T] = concurrent.futures.Future()
            failed.set_exception(HubError("stopped", "The connector was stopped."))
            return failed
        return asyncio.run_coroutine_threadsafe(work, self._loop)
