"""Waiting lines: tickets of the players who are here, and their places."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from .. import _json
from ..client import AsyncHubClient
from ..events import HubEvent
from ..models import Match, Ticket, TicketMatched, TicketRequest, TicketUpdated
from .persist import persist

LOG = logging.getLogger("networkhub")

_PATIENCE = 30.0
_MATCH_TTL = 12.0
"""Seconds of the 15 that slots are held, for sending the players there."""
_REMEMBERED = 1_000
"""More matches than are made while an answer is on its way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A player's place in a line."""

    player_uuid: UUID
    ticket_id: UUID
    position: int
    """From 1."""
    waiting: int
    """Players in the line."""
    eta_ms: int | None
    """Estimated wait; None while it is unknown."""


class WaitingLines:
    """Takes tickets, remembers places, and sends players where slots are held for them."""

    def __init__(
        self,
        client: AsyncHubClient,
        server_id: str,
        is_here: Callable[[UUID], bool],
        is_proxy: bool,
        spawn: Callable[[Awaitable[object], str], object],
    ) -> None:
        self._client = client
        self._server_id = server_id
        self._is_here = is_here
        self._is_proxy = is_proxy
        self._spawn = spawn
        self._places: dict[UUID, Place] = {}
        self._parties: dict[UUID, list[UUID]] = {}
        """Parties of the players who wait by tickets that were taken here."""
        self._sent: deque[UUID] = deque(maxlen=_REMEMBERED)
        """The latest matches that were acted upon."""
        self._asked: list[tuple[UUID, set[UUID]]] = []
        """Players whose tickets are asked for now, each with the tickets of theirs that events told of since."""
        self._place_listeners: list[Callable[[Place], object]] = []
        self._match_listeners: list[Callable[[TicketMatched], object]] = []

    def place(self, player: UUID) -> Place | None:
        """A player's place; None if they do not wait."""
        return self._places.get(player)

    def on_place(self, listener: Callable[[Place], object]) -> None:
        """Calls this with each new place of a player of this server."""
        self._place_listeners.append(listener)

    def on_match(self, listener: Callable[[TicketMatched], object]) -> None:
        """Calls this when slots are held for a player of this server, or of any on a proxy."""
        self._match_listeners.append(listener)

    async def wait(self, request: TicketRequest) -> Ticket:
        """Takes a ticket."""
        player, party = request.player_uuid, list(request.party or [])
        told: set[UUID] = set()
        self._asked.append((player, told))
        try:
            ticket = await persist(lambda: self._client.matchmaking.join_line(request), _PATIENCE)
        finally:
            self._asked = [each for each in self._asked if each[1] is not told]
        place = self._places.get(player)
        if ticket.state != "WAITING" or ticket.ticket_id not in told:
            self._take(player, ticket, party)
        elif place is not None and place.ticket_id == ticket.ticket_id:
            # The event is newer than the answer, but lacks the party.
            self._parties[player] = party
        return ticket

    async def leave(self, player: UUID) -> bool:
        """Ends a player's ticket."""
        place = self._places.get(player)
        if place is None:
            return False
        had_one = await persist(lambda: self._client.matchmaking.leave_line(place.ticket_id), _PATIENCE)
        # While the ticket may go on, so does the place.
        current = self._places.get(player)
        if current is not None and current.ticket_id == place.ticket_id:
            self._forget(player)
        return had_one

    def left(self, player: UUID) -> None:
        """A player is no longer here; their ticket goes on."""
        self._forget(player)

    def updated(self, event: HubEvent) -> None:
        """TICKET_UPDATED."""
        told = _json.read(TicketUpdated, event.data)
        if not self._is_here(told.player_uuid):
            return
        self._note_told(told.player_uuid, told.ticket_id)
        self._put(
            Place(
                player_uuid=told.player_uuid,
                ticket_id=told.ticket_id,
                position=told.position,
                waiting=told.waiting,
                eta_ms=told.eta_ms,
            )
        )

    def matched(self, event: HubEvent) -> None:
        """TICKET_MATCHED."""
        ticket = _json.read(TicketMatched, event.data)
        self._note_told(ticket.player_uuid, ticket.ticket_id)
        self._match(ticket)

    def _note_told(self, player: UUID, ticket_id: UUID) -> None:
        for asked, told in self._asked:
            if asked == player:
                told.add(ticket_id)

    def resync(self) -> None:
        """Events may have been missed."""
        for place in list(self._places.values()):
            self._spawn(self._read(place), "A place in a line cannot be read")

    async def _read(self, place: Place) -> None:
        ticket = await persist(lambda: self._client.matchmaking.ticket(place.ticket_id), _PATIENCE)
        if self._places.get(place.player_uuid) is not place:
            return
        if ticket is None:
            self._forget(place.player_uuid)
        else:
            self._take(place.player_uuid, ticket, self._parties.get(place.player_uuid, []))

    def _take(self, player: UUID, ticket: Ticket, party: list[UUID]) -> None:
        if ticket.state == "WAITING" and ticket.position is not None:
            self._parties[player] = party
            self._put(
                Place(
                    player_uuid=player,
                    ticket_id=ticket.ticket_id,
                    position=ticket.position,
                    waiting=ticket.waiting,
                    eta_ms=ticket.eta_ms,
                )
            )
        elif ticket.state == "MATCHED" and ticket.match is not None:
            self._match(TicketMatched(ticket_id=ticket.ticket_id, player_uuid=player, party=party, match=ticket.match))
        else:
            self._forget(player)

    def _put(self, place: Place) -> None:
        self._places[place.player_uuid] = place
        self._tell(self._place_listeners, place)

    def _match(self, ticket: TicketMatched) -> None:
        match = ticket.match
        # It is told by the answer and by the event.
        if match.transfer_id is None or match.matched_server is None or match.transfer_id in self._sent:
            return
        self._sent.append(match.transfer_id)
        members = list(dict.fromkeys([ticket.player_uuid, *ticket.party]))
        for member in members:
            self._forget(member)
        self._tell(self._match_listeners, ticket)
        if self._is_proxy or match.matched_server.server_id == self._server_id:
            return
        for member in filter(self._is_here, members):
            self._spawn(self._send(member, match), "A player cannot be sent where a slot is held")

    async def _send(self, player: UUID, match: Match) -> None:
        server = match.matched_server
        assert server is not None
        world = None if match.matched_world is None else match.matched_world.world_id
        key = f"ticket-{match.transfer_id}-{player}"
        outcome = await persist(
            lambda: self._client.transfers.transfer(player, server.server_id, world, idempotency_key=key), _MATCH_TTL
        )
        if not outcome.success:
            LOG.warning("Player %s cannot be sent to %s: %s", player, server.server_id, outcome.result)

    def _forget(self, player: UUID) -> None:
        self._places.pop(player, None)
        self._parties.pop(player, None)

    def _tell(self, listeners: list[Callable[[Any], object]], told: object) -> None:
        for listener in listeners:
            try:
                listener(told)
            except Exception:
                LOG.exception("A listener of waiting lines failed")
