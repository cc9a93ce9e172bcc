"""Finding servers and worlds, and sending players there."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from .. import _json
from .._call import Api, Call, TransportT, existed, keyed, listed, model, nothing, operation, optional, path, query
from ..models import Match, RegionPopulation, Ticket, TicketRequest, TransferOutcome


class MatchmakingApi(Api[TransportT]):
    """Finding servers and worlds."""

    @operation
    def find(
        self,
        server_type: str | None = None,
        world_type: str | None = None,
        *,
        server_id: str | None = None,
        world_id: str | None = None,
        player: UUID | None = None,
        player_name: str | None = None,
        party: Sequence[UUID] | None = None,
        region: str | None = None,
        affinity_game_id: str | None = None,
        affinity_owner_scope: str | None = None,
        affinity_owner_id: str | None = None,
    ) -> Call[Match]:
        """Finds a place and reserves a slot there for 15 seconds. Where there is none the answer says why; that is no error.

        The best server of `server_type`, its best world of `world_type`, or the server `server_id` (and its world `world_id`)
        if it can be joined. The player's current server is skipped, and their region counts where none is given. All of
        `party`, up to 16 with the player, get slots in one place, or nobody does. The affinity is an owner's world: where it
        is up, if it is.
        """
        body = _json.present(
            server_type=server_type,
            world_type=world_type,
            world_matchmaking=True if world_type is not None else None,
            server_id=server_id,
            world_id=world_id,
            direct_join=True if server_id is not None else None,
            player_uuid=player,
            player_name=player_name,
            party=party,
            region=region,
            affinity_game_id=affinity_game_id,
            affinity_owner_scope=affinity_owner_scope,
            affinity_owner_id=affinity_owner_id,
        )
        return Call("POST", path("matchmaking", "find"), model(Match), body=body, **keyed())

    @operation
    def regions(self, server_type: str | None = None) -> Call[list[RegionPopulation]]:
        """Returns servers and players by region; None for all types."""
        return Call("GET", path("matchmaking", "regions"), listed(RegionPopulation), query(server_type=server_type))

    @operation
    def join_line(self, request: TicketRequest) -> Call[Ticket]:
        """Takes a ticket, which keeps its place in a line until there is room. The same request again keeps ticket and place."""
        return Call("POST", path("matchmaking", "tickets"), model(Ticket), body=request, **keyed())

    @operation
    def ticket(self, ticket_id: UUID) -> Call[Ticket | None]:
        """A ticket with its place or its match; None for one that ended more than ten minutes ago."""
        return Call("GET", path("matchmaking", "tickets", ticket_id), optional(Ticket), is_optional=True)

    @operation
    def leave_line(self, ticket_id: UUID) -> Call[bool]:
        """Ends a ticket; returns whether there was one."""
        return Call("DELETE", path("matchmaking", "tickets", ticket_id), existed, is_optional=True)


class TransfersApi(Api[TransportT]):
    """Sending players to other servers. `HubConnector.transfer` also waits for servers that are just reconnecting."""

    @operation
    def transfer(
        self,
        player: UUID,
        target_server_id: str,
        target_world_id: str | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> Call[TransferOutcome]:
        """Sends a player from the server they are on to another one.

        The answer says whether the command is on its way, not whether the player arrived. With the same key it counts once,
        however often it is sent.
        """
        body = _json.present(player_uuid=player, target_server_id=target_server_id, target_world_id=target_world_id)
        return Call("POST", path("transfers"), model(TransferOutcome), body=body, **keyed(idempotency_key))

    @operation
    def report(self, transfer_id: UUID, player: UUID, result: str, error_message: str | None = None) -> Call[None]:
        """Reports how a transfer ended: `SUCCESS`, or an upper-case word that says what went wrong, which releases the slot.

        The first report counts; a join at the target is one, too.
        """
        body = _json.present(transfer_id=transfer_id, player_uuid=player, result=result, error_message=error_message)
        return Call("POST", path("transfers", "result"), nothing, body=body)
