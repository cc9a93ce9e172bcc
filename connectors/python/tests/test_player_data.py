"""Data that moves with players, against real hubs that are killed meanwhile."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest
from inventories import Inventories
from support import FakeGame, HubProcess, eventually

from networkhub import ConnectorOptions, HubConnector, HubError
from networkhub.models import ServerRegistration

numbers = itertools.count()


class Server:
    """A game server with inventories."""

    def __init__(self, connector: HubConnector, game: FakeGame, inventories: Inventories) -> None:
        self.connector = connector
        self.game = game
        self.inventories = inventories

    def is_open(self, player: UUID) -> bool:
        return self.connector.player_data.is_open(player)

    async def join(self, player: UUID) -> None:
        self.connector.player_joined(player, "Ann")
        await eventually("the player's data is applied", lambda: self.is_open(player))

    def leave(self, player: UUID) -> None:
        self.connector.player_left(player)
        self.inventories.held.pop(player, None)


class Scene:
    """A hub of its own, and servers on it."""

    def __init__(self, started: AsyncExitStack) -> None:
        self._started = started
        self.hub = HubProcess()
        started.callback(self.hub.close)
        self.owner = self.hub.async_client()
        started.push_async_callback(self.owner.aclose)
        self.player = uuid4()

    async def start(self, prepare: Callable[[HubConnector], None] = lambda connector: None, **options: Any) -> Server:
        client = await self._started.enter_async_context(self.hub.async_client())
        name = f"games-{next(numbers)}"
        info = ServerRegistration(server_id=name, server_type="games", port=25565, host="10.0.0.1")
        inventories = Inventories()
        settings = ConnectorOptions(player_data=inventories, player_namespaces=["inventory"], **options)
        game = FakeGame()
        connector = HubConnector(client, info, game, settings)
        prepare(connector)
        connector.start()
        self._started.push_async_callback(connector.stop)
        await asyncio.wait_for(connector.wait_until_connected(), 60)
        return Server(connector, game, inventories)

    async def stored(self) -> dict[str, int]:
        entry = await self.owner.players.get_data(self.player, "global", "inventory")
        return {} if entry is None else json.loads(entry.data)

    async def state(self) -> str | None:
        session = await self.owner.players.session(self.player)
        return None if session is None else session.state

    async def has_state(self, state: str) -> None:
        async def holds() -> bool:
            return await self.state() == state

        await eventually(f"the session is {state}", holds)


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    async with AsyncExitStack() as started:
        yield Scene(started)


async def test_data_moves_with_a_player(scene: Scene) -> None:
    a, b, player = await scene.start(), await scene.start(), scene.player
    await a.join(player)
    assert a.inventories.applied == [{}]
    a.inventories.give(player, "diamond", 3)
    fence = a.connector.player_data.fence(player)
    # The other server sees the player first, as where this one lags.
    b.connector.player_joined(player, "Ann")
    await eventually("the other server has the data", lambda: b.is_open(player))
    assert b.inventories.held[player] == {"diamond": 3}
    assert (a.inventories.endings, a.is_open(player)) == (["REQUESTED"], False)
    a.leave(player)
    assert (b.connector.player_data.fence(player) or 0) > (fence or 0)
    # A late save of this server is refused.
    with pytest.raises(HubError) as error:
        await a.connector.player_data.save(player)
    assert error.value.code == "no_session"
    b.inventories.give(player, "diamond")
    b.leave(player)
    await scene.has_state("CLOSED")
    assert await scene.stored() == {"diamond": 4}


async def test_saves_are_made_by_themselves_and_when_asked_for(scene: Scene) -> None:
    a, player = await scene.start(autosave=0.2), scene.player
    await a.join(player)
    a.inventories.give(player, "stone")

    async def is_saved() -> bool:
        return await scene.stored() == {"stone": 1}

    await eventually("the autosave was made", is_saved)
    data = a.connector.player_data
    data.put(player, "notes", '"hello"')
    await data.save(player)
    entry = await scene.owner.players.get_data(player, "global", "notes")
    assert entry is not None
    assert (entry.data, entry.version, data.get(player, "notes")) == ('"hello"', 1, '"hello"')
    # Nothing changed, so nothing is saved.
    await data.save(player)
    inventory = await scene.owner.players.get_data(player, "global", "inventory")
    assert inventory is not None
    assert inventory.version == 1


async def test_a_lost_session_stops_saving_and_is_opened_again(scene: Scene) -> None:
    a, player = await scene.start(), scene.player
    await a.join(player)
    a.inventories.give(player, "stone")
    await a.connector.player_data.save(player)
    fence = a.connector.player_data.fence(player)
    # Somebody else opens a session, as a server does that was told nothing of this one.
    stranger = ServerRegistration(server_id="stranger", server_type="games", port=25565, host="10.0.0.2")
    await scene.owner.servers.register(stranger)
    a.connector._stream.set_types(["CHAT"])
    opened = await scene.owner.players.open_session(player, "stranger", wait_ms=0)
    assert opened.taken_over
    await eventually("the loss is known", lambda: a.inventories.endings != [] or not a.is_open(player) or _save(a, player))
    assert not a.is_open(player)
    await scene.owner.players.save_session(player, opened.fence, close=True)
    await eventually("it is opened again", lambda: a.is_open(player))
    assert a.inventories.held[player] == {"stone": 1}
    assert (a.connector.player_data.fence(player) or 0) > (fence or 0)


def _save(server: Server, player: UUID) -> bool:
    server.inventories.held.get(player, {}).update(late=1)
    task = asyncio.ensure_future(server.connector.player_data.save(player))
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return False


async def test_the_last_save_waits_for_a_hub_that_was_killed(scene: Scene) -> None:
    a, b, player = await scene.start(), await scene.start(), scene.player
    await a.join(player)
    a.inventories.give(player, "diamond", 5)
    scene.hub.kill()
    a.leave(player)
    b.connector.player_joined(player, "Ann")
    scene.hub.start()
    await eventually("the data is there", lambda: b.is_open(player))
    await scene.has_state("OPEN")
    assert b.inventories.held[player] == {"diamond": 5}
    b.leave(player)
    await scene.has_state("CLOSED")


async def test_a_stopping_server_saves_its_players(scene: Scene) -> None:
    a, player = await scene.start(), scene.player
    await a.join(player)
    a.inventories.give(player, "stone", 2)
    await a.connector.stop()
    assert (await scene.state(), await scene.stored()) == ("CLOSED", {"stone": 2})


async def test_a_player_who_comes_and_goes_leaves_no_session_open(scene: Scene) -> None:
    a, b, player = await scene.start(), await scene.start(), scene.player
    for _ in range(5):
        a.connector.player_joined(player, "Ann")
        a.leave(player)
    await b.join(player)
    b.inventories.give(player, "stone")
    b.leave(player)
    await scene.has_state("CLOSED")
    assert await scene.stored() == {"stone": 1}


async def test_items_are_neither_lost_nor_doubled_by_switches(scene: Scene) -> None:
    servers = [await scene.start(autosave=0.1) for _ in range(3)]
    luck, player, given = random.Random(7), scene.player, 0
    here = servers[0]
    await here.join(player)
    for step in range(60):
        here.inventories.give(player, "diamond")
        given += 1
        there = luck.choice([server for server in servers if server is not here])
        if luck.random() < 0.5:
            here.leave(player)
            there.connector.player_joined(player, "Ann")
        else:
            there.connector.player_joined(player, "Ann")
            await asyncio.sleep(luck.random() * 0.05)
            here.leave(player)
        if step % 20 == 10:
            # The last save is repeated until the hub is back; with it the sessions.
            scene.hub.kill()
            scene.hub.start()
        await eventually("the data has arrived", partial(there.is_open, player))
        assert there.inventories.held[player] == {"diamond": given}
        here = there
    here.leave(player)
    await scene.has_state("CLOSED")
    assert await scene.stored() == {"diamond": given}


async def test_without_a_handler_no_session_is_opened(scene: Scene) -> None:
    async with scene.hub.async_client() as client:
        info = ServerRegistration(server_id="plain", server_type="games", port=25565, host="10.0.0.1")
        async with HubConnector(client, info, FakeGame()) as connector:
            await asyncio.wait_for(connector.wait_until_connected(), 60)
            connector.player_joined(scene.player, "Ann")
            await eventually("the join was told", lambda: connector.status.pending_changes == 0)
    assert await scene.state() is None
