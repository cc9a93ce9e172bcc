"""Deliveries and waiting lines, against real hubs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from inventories import Inventories
from support import eventually, where
from test_player_data import Scene, Server, scene

from networkhub import DeliveryFailure, HubConnector, HubError, Place
from networkhub.models import Delivery, DeliveryRequest, ServerRegistration, TicketMatched, TicketRequest

__all__ = ["scene"]


async def buy(scene: Scene, kind: str, reference: str | None = None, **more: Any) -> int:
    """What a shop does."""
    request = DeliveryRequest(player_uuid=scene.player, kind=kind, reference=reference, **more)
    return (await scene.owner.deliveries.create(request)).delivery_id


async def ended(scene: Scene, delivery_id: int, state: str) -> None:
    async def holds() -> bool:
        return await state_of(scene, delivery_id) == state

    await eventually(f"the delivery is {state}", holds, 120)


async def state_of(scene: Scene, delivery_id: int) -> str:
    page = await scene.owner.call("GET", f"/api/manage/deliveries?playerUuid={scene.player}&limit=200")
    states = {item["deliveryId"]: str(item["state"]) for item in page["items"]}
    return states[delivery_id]


async def is_present(scene: Scene, server: Server) -> None:
    async def holds() -> bool:
        return await where(scene.owner, scene.player) == server.connector.info.server_id

    await eventually("the player is there", holds)


async def test_a_purchase_arrives_once(scene: Scene) -> None:
    ran: list[Delivery] = []
    a = await scene.start(prepare=lambda connector: connector.on_delivery("rank", ran.append))
    before = await buy(scene, "rank", "order-1", payload={"rank": "vip"})
    assert await buy(scene, "rank", "order-1", payload={"rank": "vip"}) == before
    await buy(scene, "unknown")
    a.connector.player_joined(scene.player, "Ann")
    await ended(scene, before, "DELIVERED")
    online = await buy(scene, "rank", "order-2")
    await ended(scene, online, "DELIVERED")
    assert [delivery.delivery_id for delivery in ran] == [before, online]
    assert (ran[0].payload, ran[0].attempts) == ({"rank": "vip"}, 1)


async def test_a_handler_that_raises_is_called_again_or_not(scene: Scene) -> None:
    attempts: list[int] = []

    async def flaky(delivery: Delivery) -> None:
        attempts.append(delivery.attempts)
        if delivery.attempts < 3:
            raise RuntimeError("the inventory is full")

    def impossible(delivery: Delivery) -> None:
        raise DeliveryFailure("no such kit")

    def prepare(connector: HubConnector) -> None:
        connector.on_delivery("flaky", flaky)
        connector.on_delivery("impossible", impossible)

    a = await scene.start(prepare=prepare)
    a.connector.player_joined(scene.player, "Ann")
    flaky_id, impossible_id = await buy(scene, "flaky"), await buy(scene, "impossible")
    await ended(scene, flaky_id, "DELIVERED")
    await ended(scene, impossible_id, "FAILED")
    assert attempts == [1, 2, 3]


async def test_items_and_the_ends_of_their_deliveries_are_saved_together(scene: Scene) -> None:
    def prepare(connector: HubConnector) -> None:
        def give(delivery: Delivery) -> None:
            handler = connector.options.player_data
            assert isinstance(handler, Inventories)
            assert delivery.player_uuid is not None
            handler.give(delivery.player_uuid, "kit")

        connector.on_data_delivery("kit", give)

    servers = [await scene.start(prepare=prepare) for _ in range(2)]
    here, there = servers
    # Claims whose answers are lost with the hub run out, and the effect is in the save alone: it may be tried again.
    orders = [await buy(scene, "kit", f"order-{at}", on_lost="RETRY") for at in range(20)]
    await here.join(scene.player)
    for step in range(6):
        # In the middle of them the player moves, and the hub dies.
        await asyncio.sleep(0.05)
        if step % 3 == 1:
            scene.hub.kill()
        here.leave(scene.player)
        if step % 3 == 1:
            scene.hub.start()
        there.connector.player_joined(scene.player, "Ann")
        here, there = there, here
        await eventually("the data has arrived", lambda: here.is_open(scene.player))  # noqa: B023
    for order in orders:
        await ended(scene, order, "DELIVERED")
    here.leave(scene.player)
    await scene.has_state("CLOSED")
    assert await scene.stored() == {"kit": 20}


async def test_an_item_that_is_saved_after_its_claim_is_over_is_given_once(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[Delivery] = []

    def prepare(connector: HubConnector) -> None:
        inventories = connector.options.player_data
        assert isinstance(inventories, Inventories)

        def give(delivery: Delivery) -> None:
            ran.append(delivery)
            inventories.give(scene.player, "kit")

        connector.on_data_delivery("kit", give)

    a = await scene.start(prepare=prepare)
    await a.join(scene.player)
    may_save = asyncio.Event()

    async def reached(call: Callable[[], Awaitable[None]]) -> None:
        await may_save.wait()
        await call()

    monkeypatch.setattr(a.connector.player_data.link, "reached", reached)
    delivery = await buy(scene, "kit", on_lost="RETRY")
    await eventually("the item is there", lambda: len(ran) == 1)
    # The claim ends before the save, as when the hub was away for a minute.
    claims = list(a.connector._deliveries._saving)
    await scene.owner.deliveries.fail(delivery, claims[0], "too late", True)
    may_save.set()
    await ended(scene, delivery, "DELIVERED")
    assert len(ran) == 1
    assert await scene.stored() == {"kit": 1}


async def test_an_effect_that_cannot_be_saved_is_left_to_a_person(scene: Scene) -> None:
    ran: list[str] = []

    def prepare(connector: HubConnector) -> None:
        inventories = connector.options.player_data
        assert isinstance(inventories, Inventories)

        def refused(delivery: Delivery) -> None:
            ran.append(delivery.kind)
            inventories.give(scene.player, "kit")
            # More than a namespace may hold.
            connector.player_data.put(scene.player, "notes", json.dumps("x" * 300_000))

        def uncaptured(delivery: Delivery) -> None:
            ran.append(delivery.kind)
            del inventories.held[scene.player]

        connector.on_data_delivery("refused", refused)
        connector.on_data_delivery("uncaptured", uncaptured)

    a = await scene.start(prepare=prepare)
    await a.join(scene.player)
    for kind in ("refused", "uncaptured"):
        await ended(scene, await buy(scene, kind, on_lost="RETRY"), "FAILED")
    assert ran == ["refused", "uncaptured"]
    assert a.connector._deliveries._saving == {}


async def test_a_stopping_server_finishes_what_it_began_and_begins_nothing(scene: Scene) -> None:
    began, may_end = asyncio.Event(), asyncio.Event()
    late: list[Delivery] = []

    async def slow(delivery: Delivery) -> None:
        began.set()
        await may_end.wait()

    def prepare(connector: HubConnector) -> None:
        connector.on_delivery("slow", slow)
        connector.on_delivery("late", late.append)

    a = await scene.start(prepare=prepare)
    await a.join(scene.player)
    slow_id = await buy(scene, "slow")
    await asyncio.wait_for(began.wait(), 60)
    stopping = asyncio.ensure_future(a.connector.stop())
    await scene.has_state("CLOSED")
    late_id = await buy(scene, "late")
    may_end.set()
    await stopping
    assert [await state_of(scene, each) for each in (slow_id, late_id)] == ["DELIVERED", "PENDING"]
    assert late == []


async def test_a_stopping_server_gives_back_what_its_main_thread_did_not_come_to(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[Delivery] = []
    a = await scene.start(prepare=lambda connector: connector.on_delivery("rank", ran.append))
    await a.join(scene.player)
    tasks: list[Callable[[], None]] = []
    monkeypatch.setattr(a.game, "run_on_main_thread", tasks.append)
    delivery = await buy(scene, "rank")
    await ended(scene, delivery, "CLAIMED")
    await a.connector.stop()
    assert await state_of(scene, delivery) == "PENDING"
    for task in tasks:
        task()
    assert ran == []


async def test_a_crash_between_claim_and_completion_is_held_or_repeated(scene: Scene) -> None:
    began: list[str] = []

    async def crash(delivery: Delivery) -> None:
        began.append(delivery.kind)
        await asyncio.Event().wait()

    def prepare(connector: HubConnector) -> None:
        connector.on_delivery("hold", crash)
        connector.on_delivery("retry", crash)

    a = await scene.start(prepare=prepare)
    hold, retry = await buy(scene, "hold"), await buy(scene, "retry", on_lost="RETRY")
    a.connector.player_joined(scene.player, "Ann")
    await eventually("both are being carried out", lambda: len(began) == 2)
    # As by kill -9.
    for task in [*a.connector._tasks, a.connector._session_task]:
        if task is not None:
            task.cancel()
    ran: list[str] = []

    def prepare_other(connector: HubConnector) -> None:
        connector.on_delivery("hold", lambda delivery: ran.append(delivery.kind))
        connector.on_delivery("retry", lambda delivery: ran.append(delivery.kind))

    b = await scene.start(prepare=prepare_other)
    b.connector.player_joined(scene.player, "Ann")
    await ended(scene, retry, "DELIVERED")
    await ended(scene, hold, "HELD")
    assert ran == ["retry"]


class Lobby:
    """Places and matches that a connector told of."""

    def __init__(self) -> None:
        self.places: list[Place] = []
        self.matches: list[TicketMatched] = []

    def prepare(self, connector: HubConnector) -> None:
        connector.on_place(self.places.append)
        connector.on_match(self.matches.append)


async def test_players_wait_in_line_and_are_sent_when_there_is_room(scene: Scene) -> None:
    told = Lobby()
    lobby = await scene.start(prepare=told.prepare)
    game = ServerRegistration(server_id="arena", server_type="arena", port=1, host="10.0.0.9", max_players=1)
    await scene.owner.servers.register(game)
    await scene.owner.servers.join("arena", UUID(int=1), "Early")
    first, second = scene.player, uuid4()
    for player, name in ((first, "Ann"), (second, "Ben")):
        lobby.connector.player_joined(player, name)
        scene.player = player
        await is_present(scene, lobby)

    ticket = await lobby.connector.wait_in_line(TicketRequest(player_uuid=first, server_type="arena"))
    assert (ticket.state, ticket.position, ticket.line) == ("WAITING", 1, "type:arena")
    await lobby.connector.wait_in_line(TicketRequest(player_uuid=second, server_type="arena"))
    again = await lobby.connector.wait_in_line(TicketRequest(player_uuid=first, server_type="arena"))
    assert again.ticket_id == ticket.ticket_id
    place = lobby.connector.place(second)
    assert place is not None
    assert (place.position, place.waiting) == (2, 2)

    await scene.owner.servers.leave("arena", UUID(int=1))
    sent = lobby.game.transfers
    await eventually("the first is sent", lambda: [command.player_uuid for command in sent] == [first])
    assert sent[0].target_server_id == "arena"
    assert (lobby.connector.place(first), told.matches[0].player_uuid) == (None, first)
    await scene.owner.servers.join("arena", first, "Ann")
    lobby.connector.player_left(first)
    await eventually("the second moves up", lambda: (at := lobby.connector.place(second)) is not None and at.position == 1)
    # The place outlives the hub.
    scene.hub.kill()
    scene.hub.start()
    await asyncio.wait_for(lobby.connector.wait_until_connected(), 60)
    await scene.owner.servers.register(game)
    await scene.owner.servers.join("arena", first, "Ann")
    await scene.owner.servers.leave("arena", first)
    await eventually("the second is sent", lambda: sent[-1].player_uuid == second)
    assert len(sent) == 2


async def test_who_leaves_the_line_is_forgotten(scene: Scene) -> None:
    lobby = await scene.start()
    await lobby.join(scene.player)
    ticket = await lobby.connector.wait_in_line(TicketRequest(player_uuid=scene.player, server_type="nothing"))
    assert ticket.state == "WAITING"
    assert await lobby.connector.leave_line(scene.player)
    assert not await lobby.connector.leave_line(scene.player)
    ended = await scene.owner.matchmaking.ticket(ticket.ticket_id)
    assert ended is not None
    assert ended.state == "CANCELLED"
    with pytest.raises(HubError):
        await lobby.connector.wait_in_line(TicketRequest(player_uuid=scene.player))
