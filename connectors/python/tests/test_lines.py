"""Places in lines, by the answers of a hub that does as it is told."""

from __future__ import annotations

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

    async def join_line(self, request: TicketRequest) -> Ticket:
        return Ticket(line="type:arena", position=1, state="WAITING", ticket_id=uuid4(), waiting=1)

    async def leave_line(self, ticket_id: UUID) -> bool:
        if self.refuses:
            raise HubError("forbidden", "The key may not.", status=403)
        self.ended.append(ticket_id)
        return True


def lines_of(tickets: Tickets, *, is_proxy: bool = False) -> WaitingLines:
    def spawn(work: Any, failure: str) -> None:
        raise AssertionError(failure)

    return WaitingLines(cast(AsyncHubClient, tickets), "lobby", lambda player: True, is_proxy, spawn)


def matched(player: UUID) -> HubEvent:
    server = {"serverId": "arena", "serverType": "arena", "host": "h", "region": "UNKNOWN", "playerCountDisplay": "0"}
    match = {"result": "SUCCESS", "success": True, "warm": False, "transferId": str(uuid4()), "matchedServer": server}
    data = {"ticketId": str(uuid4()), "playerUuid": str(player), "party": [], "match": match}
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
