"""The guide's recipes at work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
import recipes
from backpacks import Backpacks, connector_with_backpacks, wait_for_duel
from support import FakeGame, HubProcess, eventually

from networkhub import AsyncHubClient, HubConnector, HubError, HubEvent
from networkhub.models import DeliveryRequest, ServerRegistration, WorldBootOrder

Connect = Callable[..., Awaitable[HubConnector]]


@pytest.fixture
async def connect(hub: HubProcess) -> AsyncIterator[Connect]:
    async with AsyncExitStack() as started:

        async def connect(id: str, type: str, game: FakeGame) -> HubConnector:
            client = await started.enter_async_context(hub.async_client())
            info = ServerRegistration(server_id=id, server_type=type, port=1, host="10.0.0.1", max_players=8)
            connector = await started.enter_async_context(HubConnector(client, info, game))
            await asyncio.wait_for(connector.wait_until_connected(), 60)
            return connector

        yield connect


async def test_changes_of_data_are_never_lost(connect: Connect, owner: AsyncHubClient, game: FakeGame) -> None:
    hub = await connect("data-1", "data", game)
    player = uuid4()

    def level_up(data: dict[str, Any]) -> dict[str, Any]:
        return {**data, "level": data.get("level", 0) + 1}

    await asyncio.gather(*(recipes.change(hub, player, level_up) for _ in range(20)))
    entry = await owner.players.get_data(player, "skyblock", "profile")
    assert entry is not None
    assert entry.data == '{"level": 20}'


async def test_an_island_is_opened_and_visited(connect: Connect, game: FakeGame) -> None:
    hub = await connect("lobby-1", "lobby", game)
    player = uuid4()
    hub.player_joined(player, "Ann")
    with pytest.raises(HubError) as none:
        await recipes.visit_island(hub, player)
    assert none.value.code == "no_island"
    node = await connect("node-1", "islands", FakeGame())

    async def boot(event: HubEvent) -> None:
        command = event.read(WorldBootOrder)
        await node.client.worlds.ready(command.world_id, "node-1", command.fence)

    node.on("WORLD_OPEN", boot)
    assert (await recipes.visit_island(hub, player)).success
    await eventually("the player is sent", lambda: [each.target_world_id is None for each in game.transfers] == [False])


async def test_config_follows_the_operator(connect: Connect, owner: AsyncHubClient, game: FakeGame) -> None:
    rules = recipes.rounds(await connect("config-1", "config", game))

    async def is_stored() -> bool:
        return await owner.config.get("bedwars", "rules") is not None

    await eventually("the default is stored", is_stored)
    await owner.config.publish("bedwars", "rules", {"rounds": 5})
    await eventually("the rules are new", lambda: bool(rules.doc == {"rounds": 5}))


async def test_money_is_neither_made_nor_lost(connect: Connect, owner: AsyncHubClient, game: FakeGame) -> None:
    hub = await connect("shop-1", "shop", game)
    player, other = uuid4(), uuid4()
    await owner.economy.modify("player", str(player), "coins", 10)
    # Of ten sales at once three can be paid.
    sales = await asyncio.gather(*(recipes.buy(hub, player, Decimal(3)) for _ in range(10)))
    assert sales.count(True) == 3
    await recipes.pay(hub, player, other, Decimal(1))
    assert (await owner.economy.balances("player", str(other)))[0].balance == 1
    assert (await owner.economy.balances("player", str(player)))[0].balance == 0
    assert not await recipes.buy(hub, player, Decimal(1))


async def test_a_party_is_sent_whole(connect: Connect, game: FakeGame) -> None:
    hub = await connect("lobby-2", "lobby", game)
    await connect("bedwars-1", "bedwars", FakeGame())
    party = [uuid4(), uuid4()]
    for player in party:
        hub.player_joined(player, "Ann")
    assert (await recipes.play_together(hub, party[0], "Ann", party)).success
    await eventually("both are sent", lambda: len(game.transfers) == 2)


async def test_backpacks_move_with_players_and_lines_send_them(hub: HubProcess, owner: AsyncHubClient, game: FakeGame) -> None:
    player, hubs, packs = uuid4(), [], [Backpacks(), Backpacks()]
    async with AsyncExitStack() as started:
        for at, pack in enumerate(packs):
            client = await started.enter_async_context(hub.async_client())
            info = ServerRegistration(server_id=f"packs-{at}", server_type="packs", port=1, host="10.0.0.1", max_players=8)
            hubs.append(await started.enter_async_context(connector_with_backpacks(client, info, game, pack)))
        for connector in hubs:
            await asyncio.wait_for(connector.wait_until_connected(), 60)
        await owner.deliveries.create(DeliveryRequest(player_uuid=player, kind="item", payload={"item": "sword"}))
        hubs[0].player_joined(player, "Ann")
        await eventually("the purchase is there", lambda: packs[0].items.get(player) == {"sword": 1})
        hubs[1].player_joined(player, "Ann")
        await eventually("it has moved", lambda: packs[1].items.get(player) == {"sword": 1})
        assert player not in packs[0].items
        assert await wait_for_duel(hubs[1], player) == "you will be sent when it is your turn"
        duels = ServerRegistration(server_id="duels", server_type="duels", port=1, host="10.0.0.9", max_players=2)
        await owner.servers.register(duels)
        await eventually("the player is sent", lambda: len(game.transfers) == 1)
