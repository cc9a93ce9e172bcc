"""Places in lines, by the answers of a hub that does as it is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast
from uuid import UUID, uuid4

import pytest

from networkhub import AsyncHubClient, HubError, HubEvent
from networkhub.connector.lines import WaitingLines
from networkhub.models import Ticket, TicketRequest

ANN, BEN = uuid4(), uuid4()


class Tickets:
    """Answers those who wait, or refuses them."""

    def __init__(self) -> None:
        self.matchmaking = self
        self.refuses = False
        self.ended: list[UUID] = []
        self.ticket_id = uuid4()
        """The next ticket."""
        self.meanwhile: Callable[[], object] = lambda: None
        """Happens before the answer arrives."""

    async def join_line(self, request: TicketRequest) -> Ticket:
        ticket_id, self.ticket_id = self.ticket_id, uuid4()
        self.meanwhile()
        return Ticket(line="type:arena", position=2, state="WAITING", ticket_id=ticket_id, waiting=2)

    async def leave_line(self, ticket_id: UUID) -> bool:
        if self.refuses:
            raise HubError("forbidden", "The key may not.", status=403)
        self.ended.append(ticket_id)
        return True


def lines_of(tickets: Tickets, *, is_proxy: bool = False) -> WaitingLines:
    def spawn(work: Any, failure: str) -> None:
        raise AssertionError(failure)

    return WaitingLines(cast(AsyncHubClient, tickets), "lobby", lambda player: True, is_proxy, spawn)


def updated(player: UUID, ticket_id: UUID) -> HubEvent:
    data = {"ticketId": str(ticket_id), "playerUuid": str(player), "position": 1, "waiting": 2, "etaMs": None}
    return HubEvent("TICKET_UPDATED", 1, data)


def matched(player: UUID, ticket_id: UUID | None = None) -> HubEvent:
    server = {"serverId": "arena", "serverType": "arena", "host": "h", "region": "UNKNOWN", "playerCountDisplay": "0"}
    match = {"result": "SUCCESS", "success": True, "warm": False, "transferId": str(uuid4()), "matchedServer": server}
    data = {"ticketId": str(ticket_id or uuid4()), "playerUuid": str(player), "party": [], "match": match}
    return HubEvent("TICKET_MATCHED", 1, data)


async def test_a_place_stays_until_the_hub_has_ended_the_ticket() -> None:
    tickets = Tickets()
    lines = lines_of(tickets)
    ticket = await lines.wait(TicketRequest(player_uuid=ANN, server_type="arena"))
    tickets.refuses = True
    with pytest.raises(HubError):
        await lines.leave(ANN)
    assert lines.place(ANN) is not None
    tickets.refuses = False
    assert await lines.leave(ANN)
    assert (lines.place(ANN), tickets.ended) == (None, [ticket.ticket_id])
    assert not await lines.leave(ANN)


async def test_only_those_who_wait_and_the_latest_matches_are_remembered() -> None:
    lines = lines_of(Tickets(), is_proxy=True)
    for player in (ANN, BEN):
        await lines.wait(TicketRequest(player_uuid=player, server_type="arena", party=[player, uuid4()]))
    await lines.leave(ANN)
    lines.left(BEN)
    assert lines._parties == {}
    told: list[UUID] = []
    lines.on_match(lambda ticket: told.append(ticket.player_uuid))
    events = [matched(uuid4()) for _ in range(1_500)]
    for event in [*events, events[-1]]:
        lines.matched(event)
    assert len(told) == 1_500
    assert len(lines._sent) == 1_000


async def test_an_event_that_overtakes_the_answer_is_newer() -> None:
    tickets = Tickets()
    lines = lines_of(tickets, is_proxy=True)
    positions: list[int] = []
    lines.on_place(lambda place: positions.append(place.position))

    async def wait_while(*events: HubEvent) -> None:
        def tell() -> None:
            for event in events:
                (lines.matched if event.type == "TICKET_MATCHED" else lines.updated)(event)

        tickets.meanwhile = tell
        await lines.wait(TicketRequest(player_uuid=ANN, server_type="arena", party=[ANN, BEN]))

    def position() -> int | None:
        place = lines.place(ANN)
        return None if place is None else place.position

    await wait_while(updated(ANN, tickets.ticket_id))
    assert position() == 1
    assert lines._parties == {ANN: [ANN, BEN]}, "no event tells the party"
    await wait_while(matched(ANN, tickets.ticket_id))
    assert position() is None
    assert lines._parties == {}
    # Of an older ticket, of another player, or before the request.
    lines.updated(updated(ANN, tickets.ticket_id))
    await wait_while(updated(ANN, uuid4()), updated(BEN, tickets.ticket_id))
    assert position() == 2
    assert positions == [1, 1, 1, 1, 2]
    assert lines._asked == []
