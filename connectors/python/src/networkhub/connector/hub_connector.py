"""The connector for asyncio."""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any
from uuid import UUID

from .. import _json
from ..api.servers import ServerState
from ..client import AsyncHubClient
from ..errors import HubError
from ..events import HubEvent
from ..models import (
    ChatMessage,
    ChatMessageInput,
    ConsoleCommandOrder,
    Delivery,
    LoadedPlayer,
    OpenedWorld,
    Punishment,
    ServerRegistration,
    ServerSession,
    SignedTransferCommand,
    Ticket,
    TicketMatched,
    TicketRequest,
    TransferOutcome,
    WorldRequest,
)
from .clock import HubClock
from .commands import CommandRunner
from .deliveries import Deliveries, DeliveryHandler
from .game import GameServer, call_game
from .lines import Place, WaitingLines
from .localization_cache import CachedConfig, LocalizationCache
from .options import ConnectorOptions, ConnectorStatus, JoinDecision
from .outbox import ChangeKind, PlayerChange
from .permission_cache import PermissionCache
from .persist import RefreshQueue, cancel_all, persist
from .player_data import PlayerDataStore
from .punishment_cache import PunishmentCache
from .session import Session
from .transfers import TransferHandler, TransferVerifier
from .worlds import WorldOpener

LOG = logging.getLogger("networkhub")

_TICK = 5.0
_PATIENCE = 3.0
"""Seconds that `stop` waits for pending changes."""
_EVENTS = (
    *("CHAT", "PUNISHMENT", "TRANSFER", "EXECUTE_COMMAND", "LOCALIZATION_UPDATED", "CONFIG_UPDATED", "WORLD_READY"),
    *("WORLD_OPEN", "WORLD_SNAPSHOT", "WORLD_UNLOAD", "SIGNING_SECRET_ROTATED", "PERMISSIONS_UPDATED"),
    *("TICKET_MATCHED", "TICKET_UPDATED"),
)
_SESSION_EVENTS = ("SESSION_REQUESTED", "SESSION_ENDED")
_SAVE_PATIENCE = 5.0
"""Seconds that `stop` waits for the last saves of players and for deliveries."""


class HubConnector:
    """Connects a game server or proxy with its hub.

    Registers it, keeps it online, reports its players, listens to the event stream, and keeps in memory what the game asks
    for all the time. One for each server, for as long as it runs:

        async with HubConnector(client, info, game) as hub: …

    It lives on one asyncio event loop, and all its methods are to be called there; for a game with threads there is
    `ThreadedHubConnector`. Methods that are not coroutines return at once. Listeners are called on the loop, in the order of the
    events, and must not block.

    While the hub is away the connector keeps trying, with growing and random delays. Joins, leaves and changes of worlds wait in
    memory, in order, until the hub has confirmed them. The event stream resumes where it ended; where that is not possible
    everything that is kept is read again. Bans and mutes stay in force (`PunishmentCache`); permissions, messages and config stay
    as they were.
    """

    def __init__(
        self,
        client: AsyncHubClient,
        info: ServerRegistration,
        game: GameServer,
        options: ConnectorOptions | None = None,
    ) -> None:
        self.client = client
        """The client, for calls that the connector does not make itself."""
        self.info = info
        """Registration of the server."""
        self.options = options = options or ConnectorOptions()
        """The settings."""
        self._clock = HubClock()
        self.punishments = PunishmentCache(self._clock)
        """The punishments that are known."""
        self.permissions = PermissionCache(client, options.permission_context)
        """Permissions of players."""
        self.localization = LocalizationCache(client, options.all_namespaces, options.messages, options.default_locale)
        """Messages and languages."""
        self.transfer_verifier = TransferVerifier()
        """Verifies commands that another server has handed to this one."""
        self._game = game
        self._online: set[UUID] = set()
        self._listeners: dict[str, list[Callable[[HubEvent], object]]] = {}
        self._configs: list[CachedConfig] = []
        self._tasks: set[asyncio.Task[Any]] = set()
        self._session_task: asyncio.Task[None] | None = None
        self._session = Session(client, info, options.state, self.transfer_verifier.registering, self._registered, self._spawn)
        self._transfers = TransferHandler(
            client, game, self._clock, self.transfer_verifier, self._online.__contains__, self._session.concerns
        )
        self._commands = CommandRunner(client, game, self._clock)
        self._worlds = WorldOpener(client)
        self.player_data = PlayerDataStore(
            client,
            info.server_id,
            game,
            options.player_data,
            options.player_namespaces,
            autosave=options.autosave,
            game_mode=options.game_mode,
            game_type=options.game_type,
            spawn=self._spawn,
        )
        """Data of players that moves with them."""
        is_here = self._online.__contains__
        self._deliveries = Deliveries(client, info.server_id, game, self.player_data, is_here, self._spawn)
        self._lines = WaitingLines(client, info.server_id, is_here, info.role == "PROXY", self._spawn)
        self._punishment_refresh = RefreshQueue(self._read_punishments)
        self._permission_refresh = RefreshQueue(self.permissions.refresh)
        self._language_refresh = RefreshQueue(self.localization.refresh_language)
        self._is_started = False
        self._was_open = False
        self._stream_open = False
        self._stream_lost_at = time.monotonic()
        self._stream_error: HubError | None = None
        self._stream = client.events(info.server_id, self._types())
        self._stream.on_open = self._opened
        self._stream.on_disconnected = self._disconnected

    def _types(self) -> list[str]:
        """The events to listen to."""
        sessions = _SESSION_EVENTS if self.player_data.is_enabled else ()
        deliveries = ("DELIVERY_READY",) if self._deliveries.is_used else ()
        return list(dict.fromkeys([*_EVENTS, *sessions, *deliveries, *self.options.events]))

    # Life.

    def start(self) -> None:
        """Begins to connect. Once, on the event loop."""
        if self._is_started:
            raise RuntimeError("the connector was started already")
        self._is_started = True
        self._stream.set_types(self._types())
        self.player_data.start()
        self._session_task = asyncio.create_task(self._session.run())
        self._spawn(self._listen(), "The event stream failed")
        self._spawn(self._tick(), "The connector failed at a task")
        self._spawn(self._deliveries.run(), "The connector failed at a task")
        for queue in (self._punishment_refresh, self._permission_refresh, self._language_refresh):
            self._spawn(queue.run(), "The connector failed at a task")
        if self.options.messages:
            self._spawn(persist(self.localization.register_defaults), "Messages cannot be registered")

    async def stop(self) -> None:
        """Saves players and ends deliveries, for up to five seconds, and tells the hub what is still waiting, for up to three.

        Then takes the server offline and ends the connector.
        """
        session_task, self._session_task = self._session_task, None
        if session_task is None:
            return
        self._deliveries.stop()
        # A server that is offline has no sessions.
        self.player_data.leave_all()
        until = time.monotonic() + _SAVE_PATIENCE
        await self.player_data.finish(_SAVE_PATIENCE)
        await self._deliveries.finish(until - time.monotonic())
        self._session.stop()
        await asyncio.wait([session_task], timeout=_PATIENCE)
        tasks = [task for task in (session_task, *self._tasks) if task is not asyncio.current_task()]
        await cancel_all(tasks)
        self._stream_open = False
        try:
            await self._session.unregister()
        except HubError as error:
            LOG.warning("The hub was not told that the server stops: %s", error)

    async def __aenter__(self) -> HubConnector:
        self.start()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.stop()

    @property
    def status(self) -> ConnectorStatus:
        """Returns the connector's state."""
        error = self._session.last_error or (None if self._stream_open else self._stream_error)
        return ConnectorStatus(
            registered=self._session.is_registered and not self._session.is_away,
            stream_open=self._stream_open,
            pending_changes=self._session.pending_changes,
            last_error=None if error is None else str(error),
        )

    async def wait_until_connected(self) -> None:
        """Returns when the hub hears the server and the server hears the hub."""
        while not self.status.is_connected:
            await asyncio.sleep(0.05)

    # Reports of the game to the hub.

    async def check_join(self, player: UUID, name: str, ip: str | None = None) -> JoinDecision:
        """Asks whether a player may join, and loads them; call it before they do. Never fails.

        Answers within the time of `ConnectorOptions.join_timeout`, also while the hub is away: then from what is known, and
        a player of whom nothing current is known is refused, unless `ConnectorOptions.allow_unverified` was set. `ip` is the
        player's address, so that bans of addresses match.
        """
        if ip is not None:
            address = ip
            note = persist(lambda: self.client.punishments.record_ip(player, name, address), 60.0)
            self._spawn(note, "A player's address cannot be noted")
        try:
            return await asyncio.wait_for(self._check_with_hub(player, name, ip), self.options.join_timeout)
        except (asyncio.TimeoutError, HubError) as failure:
            LOG.info("Player %s is checked without the hub: %s", player, str(failure) or "it did not answer in time")
        except Exception:
            LOG.exception("Player %s cannot be checked with the hub", player)
        return self._decide_from_cache(player, name, ip)

    async def _check_with_hub(self, player: UUID, name: str, ip: str | None) -> JoinDecision:
        options = self.options
        asked_at = time.monotonic()
        profile = await self.client.players.load(
            player,
            name,
            game_mode=options.game_mode,
            game_type=options.game_type,
            ip=ip,
            include=["permissions", "punishments", "language", *options.load],
        )
        active = profile.punishments
        if active is None:  # An older hub includes nothing.
            active = await self.client.punishments.query(player, ip)
        if profile.language is not None:
            self.localization.put(player, profile.language, asked_at)
        await self._take_permissions(player, profile, asked_at)
        self.punishments.checked(player, name, ip, active, asked_at)
        ban = self.punishments.ban(player)
        return JoinDecision(True, profile=profile) if ban is None else JoinDecision(False, "BANNED", ban)

    async def _take_permissions(self, player: UUID, profile: LoadedPlayer, asked_at: float) -> None:
        """Part of the join, so that they are known at its end. A load has no context, so they are read separately for one."""
        if profile.permissions is not None and self.options.permission_context is None:
            self.permissions.put(player, profile.permissions, None, asked_at)
            return
        try:
            await self.permissions.refresh(player)
        except HubError as error:
            LOG.warning("Permissions cannot be read: %s", error)

    def _decide_from_cache(self, player: UUID, name: str, ip: str | None) -> JoinDecision:
        ban = self.punishments.find(player, name, ip, "BAN")
        if ban is not None:
            return JoinDecision(False, "BANNED", ban)
        is_recent = self._stream_open or time.monotonic() - self._stream_lost_at < self.options.trust_clean
        is_known = is_recent and self.punishments.is_current(player, ip)
        is_allowed = is_known or self.options.allow_unverified
        return JoinDecision(True) if is_allowed else JoinDecision(False, "NOT_VERIFIED")

    def player_joined(self, player: UUID, name: str) -> None:
        """A player is on this server now. Tell of everybody who is online already when the connector starts, too."""
        self._online.add(player)
        self.player_data.joined(player, name)
        self._session.add(PlayerChange(ChangeKind.JOIN, player, name))
        # Something may have changed since they were checked, if they were.
        if not self.punishments.is_current(player, None):
            self._punishment_refresh.add(player)
        ban = self.punishments.ban(player)
        if ban is not None:
            self._kick(player, ban)
        if self.permissions.may_be_stale(player):
            self._permission_refresh.add(player)
        if self.localization.language(player) is None:
            self._language_refresh.add(player)

    def player_changed_world(self, player: UUID, world_id: str, previous_world_id: str | None = None) -> None:
        """A player went to another world of this server."""
        change = PlayerChange(ChangeKind.WORLD, player, world=world_id, previous_world=previous_world_id)
        self._session.add(change)

    def player_left(self, player: UUID) -> None:
        """A player is no longer on this server. Their data is captured at once, so call it while the game still has them."""
        self.player_data.leave(player)
        self._lines.left(player)
        self._online.discard(player)
        self._session.add(PlayerChange(ChangeKind.LEAVE, player))

    def set_state(self, state: ServerState) -> None:
        """The game's state or the worlds have changed; the hub learns it at once."""
        self._session.set_state(state)

    async def transfer(self, player: UUID, target_server_id: str, world_id: str | None = None) -> TransferOutcome:
        """Sends a player to another server, wherever they are.

        While the hub is away, or the player's server is reconnecting, it is tried for 30 seconds. The outcome says whether the
        command is on its way; a reason why it cannot be is an outcome, too.
        """
        return await self._transfers.ask(player, target_server_id, world_id, 30.0)

    def on_delivery(self, kind: str, handler: DeliveryHandler) -> None:
        """Carries out deliveries of a kind: claims each, calls the handler on the main thread, and completes it.

        A handler that raises is called again later, up to five attempts; `DeliveryFailure` says otherwise. Where the server ends
        between the claim and its completion, the hub holds the delivery or offers it again, as its `onLost` says. Call it
        before `start`.
        """
        self._deliveries.add(kind, handler, is_data=False)

    def on_data_delivery(self, kind: str, handler: Callable[[Delivery], None]) -> None:
        """The same for deliveries whose effect is part of the player's data, such as items.

        Called while the player's session is open; the player is captured right after, and that save completes the delivery: both
        happen or neither.
        """
        self._deliveries.add(kind, handler, is_data=True)

    async def wait_in_line(self, request: TicketRequest) -> Ticket:
        """Takes a ticket for a server or world that may be full, and sends the player there when their turn has come.

        The same request again keeps ticket and place. A ticket that cannot be had is EXPIRED, with the reason in `match`.
        """
        return await self._lines.wait(request)

    async def leave_line(self, player: UUID) -> bool:
        """Ends a player's ticket; returns whether they had one."""
        return await self._lines.leave(player)

    def place(self, player: UUID) -> Place | None:
        """A player's place in their line; None if they do not wait."""
        return self._lines.place(player)

    def on_place(self, listener: Callable[[Place], object]) -> None:
        """Calls this with each new place of a player of this server: tell the player."""
        self._lines.on_place(listener)

    def on_match(self, listener: Callable[[TicketMatched], object]) -> None:
        """Calls this when slots are held for a player of this server, who is being sent there. A proxy hears of all."""
        self._lines.on_match(listener)

    async def open_world(self, request: WorldRequest) -> OpenedWorld:
        """Opens a world and waits until it is up, for up to a minute; fails with `world_timeout`."""
        return await self._worlds.open(request, 60.0)

    async def send_chat(self, player: UUID, name: str, message: str) -> None:
        """Sends a line to the whole network; it comes back to `GameServer.show_chat`.

        Fails with `muted` for a player who may not chat, and with `chat_rejected` where a filter refuses it. Chat is not kept for
        later.
        """
        if self.punishments.is_muted(player):
            raise HubError("muted", "The player is muted.")
        line = ChatMessageInput(
            player_uuid=player,
            player_name=name,
            message=message,
            server_id=self.info.server_id,
            server_type=self.info.server_type,
        )
        await self.client.chat.send(line)

    def hub_time(self) -> int:
        """The time by the hub's clock, in milliseconds since the epoch, as its pings show."""
        return self._clock.now()

    def config(self, group: str, namespace: str, default_doc: Any) -> CachedConfig:
        """A config document that is kept current; the default is stored where the network has none."""
        config = CachedConfig(self.client, group, namespace, default_doc)
        self._keep_config(config)
        return config

    def _keep_config(self, config: CachedConfig) -> None:
        """Reads a config document, and again with each change."""
        self._configs.append(config)
        self._spawn(persist(config.refresh), "A config document cannot be read")

    def on(self, type: str, listener: Callable[[HubEvent], object]) -> None:
        """Calls this with every event of a type; `RESYNC` says that events may have been missed.

        A coroutine function runs as a task of its own. Types beyond those that the connector needs are to be named in
        `ConnectorOptions.events`.
        """
        self._listeners.setdefault(type, []).append(listener)

    # Events.

    async def _listen(self) -> None:
        while True:
            try:
                await self._handle_events()
            except Exception as failure:
                LOG.exception("The event stream failed and will be opened again")
                self._disconnected(HubError("client_error", str(failure) or type(failure).__name__))
            await asyncio.sleep(_TICK)

    async def _handle_events(self) -> None:
        async for event in self._stream:
            try:
                self._handle(event)
            except Exception:
                LOG.exception("The connector failed at an event %s", event.type)
            for listener in list(self._listeners.get(event.type, ())):
                try:
                    result = listener(event)
                    if inspect.isawaitable(result):
                        self._spawn(result, f"A listener of {event.type} failed")
                except Exception:
                    LOG.exception("A listener of %s failed", event.type)

    def _opened(self) -> None:
        self._stream_open = True
        self._stream_error = None
        # State that was read before the first stream may have changed before it began.
        if not self._was_open:
            self._read_all()
        else:
            self._deliveries.look()
        self._was_open = True

    def _disconnected(self, why: HubError) -> None:
        if self._stream_open:
            self._stream_lost_at = time.monotonic()
        self._stream_open = False
        self._stream_error = why
        LOG.info("The event stream ended and will be opened again: %s", why)

    def _handle(self, event: HubEvent) -> None:
        if event.type == "PING":
            self._clock.ping(event.at)
        elif event.type == "RESYNC":
            LOG.info("Events may have been missed; reading everything anew")
            self._session.register_again()
            self._read_all()
        elif event.type == "CHAT":
            message = event.read(ChatMessage)
            self._ask_game(lambda: self._game.show_chat(message), "A line of chat cannot be shown")
        elif event.type == "PUNISHMENT":
            self._punished(event)
        elif event.type == "TRANSFER":
            self._spawn(self._transfers.carry_out(event.read(SignedTransferCommand)), "A transfer cannot be carried out")
        elif event.type == "SIGNING_SECRET_ROTATED":
            self.transfer_verifier.rotate(event.data["signingSecret"], event.data["validUntil"])
        elif event.type == "EXECUTE_COMMAND":
            self._spawn(self._commands.run(event.read(ConsoleCommandOrder), event.at), "A console command cannot be run")
        elif event.type == "LOCALIZATION_UPDATED":
            self._read_catalog()
        elif event.type == "CONFIG_UPDATED":
            for config in self._configs:
                if (config.group, config.namespace) == (event.text("group"), event.text("namespace")):
                    self._spawn(persist(config.refresh), "A config document cannot be read")
        elif event.type == "PERMISSIONS_UPDATED":
            self._permissions_changed(event)
        elif event.type == "WORLD_READY":
            self._worlds.ready(event)
        elif event.type == "SESSION_REQUESTED":
            self.player_data.requested(UUID(event.data["playerUuid"]), event.data["fence"])
        elif event.type == "SESSION_ENDED":
            self.player_data.session_ended(UUID(event.data["playerUuid"]), event.data["fence"])
        elif event.type == "DELIVERY_READY":
            self._deliveries.ready(event.data["deliveryId"], UUID(event.data["playerUuid"]), event.data["kind"])
        elif event.type == "TICKET_UPDATED":
            self._lines.updated(event)
        elif event.type == "TICKET_MATCHED":
            self._lines.matched(event)

    def _punished(self, event: HubEvent) -> None:
        punishment = _json.read(Punishment, event.data.get("punishment"))
        action = event.text("action")
        # UPDATED: staff changed it, and it may be in force still.
        self.punishments.update(punishment, action in ("CREATED", "UPDATED") and punishment.active)
        if action != "CREATED" or punishment.type not in ("BAN", "KICK"):
            return
        for player in list(self._online):
            if self.punishments.concerns(punishment, player):
                self._kick(player, punishment)

    def _permissions_changed(self, event: HubEvent) -> None:
        player, revision = event.text("playerUuid"), event.data.get("revision")
        self.permissions.changed()
        for each in self._online:
            if player in (None, str(each)) and self.permissions.is_before(each, revision):
                self._permission_refresh.add(each)

    def _kick(self, player: UUID, reason: Punishment) -> None:
        if player in self._online:
            self._ask_game(lambda: self._game.kick_player(player, reason), "A player cannot be kicked")

    def _registered(self, answer: ServerSession) -> None:
        self.transfer_verifier.set_secret(answer.signing_secret, self._clock.now())
        LOG.info("Registered with the hub as %s", answer.server_id)

    # Caches.

    async def _tick(self) -> None:
        """Refreshes expired permissions, which no event announces."""
        while True:
            await asyncio.sleep(_TICK)
            now = self._clock.now()
            self._permission_refresh.add_all(player for player in self._online if self.permissions.has_expired(player, now))
            self.permissions.prune(self._online)
            self.localization.prune(self._online)

    def _read_all(self) -> None:
        """Reads all cached state again."""
        self.punishments.gap()
        for queue in (self._punishment_refresh, self._permission_refresh, self._language_refresh):
            queue.add_all(self._online)
        self._read_catalog()
        for config in self._configs:
            self._spawn(persist(config.refresh), "A config document cannot be read")
        self._worlds.resync()
        self._lines.resync()
        self._deliveries.look()

    def _read_catalog(self) -> None:
        if self.options.all_namespaces:
            self._spawn(persist(self.localization.refresh_catalog), "Messages cannot be read")

    async def _read_punishments(self, player: UUID) -> None:
        asked_at = time.monotonic()
        check = self.punishments.last_check(player)
        name, ip = (None, None) if check is None else (check.name, check.ip)
        found = await self.client.punishments.query(player, ip)
        now = self.punishments.last_check(player)
        if now is not None and not now.is_of(name, ip):
            # They came from another address meanwhile, whose bans are not in the answer.
            self._punishment_refresh.add(player)
            return
        self.punishments.checked(player, name, ip, found, asked_at)
        ban = self.punishments.ban(player)
        if ban is not None:
            self._kick(player, ban)

    # Tasks.

    def _ask_game(self, method: Callable[[], Awaitable[None] | None], failure: str) -> None:
        self._spawn(call_game(self._game, method), failure)

    def _spawn(self, work: Awaitable[object], failure: str) -> asyncio.Task[None]:
        """Runs this beside all else. What it raises is logged."""

        async def run() -> None:
            try:
                await work
            except HubError as error:
                LOG.warning("%s: %s", failure, error)
            except Exception:
                LOG.exception("%s", failure)

        task = asyncio.ensure_future(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
