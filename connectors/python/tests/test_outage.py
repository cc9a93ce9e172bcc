"""The connector while its hub is away."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from uuid import UUID, uuid4

import pytest
from support import FakeGame, HubProcess, TcpProxy, eventually, transfer_record, where

from networkhub import AsyncHubClient, ConnectorOptions, HubConnector, ServerState
from networkhub.models import ChatMessageInput, ServerRegistration


class Scene:
    """A hub of its own with an owner, a connection to it that can be cut, and four players."""

    def __init__(self, started: AsyncExitStack) -> None:
        self._started = started
        self.hub = HubProcess()
        started.callback(self.hub.close)
        self.link = TcpProxy(self.hub.port)
        started.callback(self.link.close)
        self.owner = self.hub.async_client()
        started.push_async_callback(self.owner.aclose)
        self.game, self.other_game = FakeGame(), FakeGame()
        self.stays, self.leaves, self.joins, self.visits = uuid4(), uuid4(), uuid4(), uuid4()

    async def start(self, url: str, server: str, game: FakeGame) -> HubConnector:
        client = await self._started.enter_async_context(AsyncHubClient(url, self.hub.key))
        info = ServerRegistration(server_id=server, server_type="games", port=25565, host="10.0.0.1")
        connector = HubConnector(client, info, game, ConnectorOptions(join_timeout=10.0))
        await self._started.enter_async_context(connector)
        await asyncio.wait_for(connector.wait_until_connected(), 60)
        return connector

    async def join(self, connector: HubConnector, player: UUID, name: str) -> None:
        assert (await connector.check_join(player, name)).allowed
        connector.player_joined(player, name)
        await self.is_on(player, connector.info.server_id)

    async def is_on(self, player: UUID, server: str | None) -> None:
        async def holds() -> bool:
            return await where(self.owner, player) == server

        await eventually(f"the player is on {server}", holds)

    def chat(self) -> list[str]:
        return [line.message for line in self.game.chat]


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    async with AsyncExitStack() as started:
        yield Scene(started)


async def test_nothing_is_lost_when_the_hub_is_killed(scene: Scene) -> None:
    hub, owner = scene.hub, scene.owner
    connector = await scene.start(hub.url, "a", scene.game)
    await scene.start(hub.url, "b", scene.other_game)
    banned, clean = uuid4(), uuid4()
    await scene.join(connector, scene.stays, "Stays")
    await scene.join(connector, scene.leaves, "Leaves")
    await owner.punishments.punish(banned, "BAN", "cheating", player_name="Banned")
    await owner.punishments.punish(scene.leaves, "MUTE", "spam", player_name="Leaves")
    await eventually("the ban and the mute are known", lambda: len(connector.punishments.all()) == 2)
    assert (await connector.check_join(clean, "Clean", "203.0.113.1")).allowed

    hub.kill()
    connector.player_left(scene.leaves)
    await eventually("the outage is noticed", lambda: not connector.status.registered and not connector.status.stream_open)
    connector.player_joined(scene.joins, "Joins")
    connector.player_joined(scene.visits, "Visits")
    connector.player_left(scene.visits)
    transfer = asyncio.create_task(connector.transfer(scene.stays, "b"))
    # Bans and mutes fail closed: what is known stays, and of whom nothing is known stays out.
    assert (await connector.check_join(banned, "Banned")).reason == "BANNED"
    assert (await connector.check_join(uuid4(), "New")).reason == "NOT_VERIFIED"
    assert (await connector.check_join(clean, "Clean", "203.0.113.1")).allowed
    assert (await connector.check_join(clean, "Clean", "203.0.113.2")).reason == "NOT_VERIFIED"
    assert connector.punishments.is_muted(scene.leaves)
    assert connector.punishments.is_muted(scene.joins)
    assert not connector.punishments.is_muted(scene.stays)
    assert connector.status.pending_changes == 4

    hub.start()
    await scene.is_on(scene.joins, "a")
    await scene.is_on(scene.leaves, None)

    async def was_seen() -> bool:
        return await owner.players.get(scene.visits) is not None

    await eventually("the visit was told", was_seen)
    await eventually("everything was told", lambda: connector.status.pending_changes == 0)
    await scene.is_on(scene.visits, None)
    assert (await asyncio.wait_for(transfer, 60)).success
    await eventually("the transfer is carried out", lambda: len(scene.game.transfers) == 1)
    assert scene.game.transfers[0].player_uuid == scene.stays
    await eventually("the stream is open again", lambda: connector.status.is_connected)
    # Players that were admitted unchecked are checked now.
    await eventually("the player is known not to be muted", lambda: not connector.punishments.is_muted(scene.joins))
    await owner.punishments.punish(scene.joins, "BAN", "late", player_name="Joins")
    await eventually("events come again", lambda: scene.joins in scene.game.kicked)


async def test_changes_during_a_broken_stream_are_applied_later(scene: Scene) -> None:
    connector = await scene.start(scene.hub.url, "a", scene.game)
    await scene.join(connector, scene.stays, "Stays")
    scene.hub.kill()
    scene.hub.start()
    # Before the connector is back: its events belong to a hub that is no more, so it gets RESYNC.
    await scene.owner.punishments.punish(scene.stays, "BAN", "late", player_name="Stays")
    await eventually("the ban is carried out", lambda: scene.stays in scene.game.kicked)


async def test_a_stream_resumes_where_it_ended(scene: Scene) -> None:
    connector = await scene.start(scene.link.url, "a", scene.game)
    resyncs: list[object] = []
    connector.on("RESYNC", resyncs.append)
    await scene.owner.chat.send(line("before"))
    await eventually("the stream works", lambda: scene.chat() == ["before"])
    scene.link.cut()
    scene.link.drop_connections()
    for number in range(20):
        await scene.owner.chat.send(line(f"line {number}"))
    await eventually("the connector notices", lambda: not connector.status.stream_open)
    scene.link.heal()
    await eventually("everything came", lambda: len(scene.game.chat) == 21)
    await scene.owner.chat.send(line("after"))
    await eventually("and what follows", lambda: len(scene.game.chat) == 22)
    assert scene.chat() == ["before", *(f"line {number}" for number in range(20)), "after"]
    assert resyncs == []


def line(text: str) -> ChatMessageInput:
    return ChatMessageInput(player_uuid=UUID(int=1), player_name="Owner", message=text, server_id="console")


async def test_nothing_is_lost_in_a_partition(scene: Scene) -> None:
    owner = scene.owner
    connector = await scene.start(scene.link.url, "a", scene.game)
    other = await scene.start(scene.hub.url, "b", scene.other_game)
    await scene.join(connector, scene.stays, "Stays")
    await scene.join(connector, scene.leaves, "Leaves")

    scene.link.cut()
    cut_at = time.monotonic()
    connector.player_left(scene.leaves)
    connector.player_joined(scene.joins, "Joins")
    connector.player_joined(scene.visits, "Visits")
    connector.player_left(scene.visits)
    connector.set_state(ServerState("PLAYING"))
    assert time.monotonic() - cut_at < 10, "no call waits for the hub"
    # The visitor goes to a server that the hub still hears.
    other.player_joined(scene.visits, "Visits")
    await scene.is_on(scene.visits, "b")
    asked = asyncio.create_task(connector.transfer(scene.leaves, "b"))
    assert (await connector.check_join(uuid4(), "New")).reason == "NOT_VERIFIED"
    await asyncio.sleep(max(0, cut_at + 15 - time.monotonic()))
    # Its command is on its way while nothing gets through.
    sent = await other.transfer(scene.stays, "b")
    assert sent.success, sent.result

    async def is_given_up() -> bool:
        return (await owner.servers.search("games", online=True)).total == 1

    await eventually("the hub has given the server up", is_given_up)
    await asyncio.sleep(max(0, cut_at + 30 - time.monotonic()))
    assert scene.game.transfers == []

    scene.link.heal()
    await scene.is_on(scene.joins, "a")
    await scene.is_on(scene.stays, "a")
    await eventually("everything was told", lambda: connector.status.pending_changes == 0 and connector.status.is_connected)
    await eventually("the transfer is carried out", lambda: len(scene.game.transfers) == 1)
    assert scene.game.transfers[0].transfer_id == sent.transfer_id
    # Late packets of the partition and the heartbeats after it change nothing any more.
    end = time.monotonic() + 7
    while time.monotonic() < end:
        assert await where(owner, scene.visits) == "b"
        await asyncio.sleep(0.2)
    assert await where(owner, scene.leaves) is None
    assert await where(owner, scene.joins) == "a"
    live = (await owner.servers.search("games", online=True, search="a")).items[0].live
    assert live is not None
    assert live.game_state == "PLAYING"
    assert asked.done()
    connector.player_left(scene.stays)
    other.player_joined(scene.stays, "Stays")
    await scene.is_on(scene.stays, "b")

    async def has_ended() -> bool:
        return (await transfer_record(owner, sent.transfer_id))[0] == "SUCCESS"

    await eventually("the transfer has ended", has_ended)
    assert len(scene.game.transfers) == 1
