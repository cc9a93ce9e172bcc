"""What players carry, which moves with them from server to server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from uuid import UUID

from networkhub import AsyncHubClient, ConnectorOptions, EndReason, GameServer, HubConnector, PlayerDataHandler
from networkhub.models import Delivery, ServerRegistration, TicketRequest


class Backpacks(PlayerDataHandler):
    def __init__(self) -> None:
        self.items: dict[UUID, dict[str, int]] = {}

    def apply(self, player: UUID, data: Mapping[str, str]) -> None:
        self.items[player] = json.loads(data.get("backpack", "{}"))

    def capture(self, player: UUID) -> Mapping[str, str]:
        return {"backpack": json.dumps(self.items[player])}

    def ended(self, player: UUID, reason: EndReason) -> None:
        del self.items[player]  # Another server has them now.

    def give(self, delivery: Delivery) -> None:
        """Carries out a purchase."""
        assert delivery.player_uuid is not None
        items, item = self.items[delivery.player_uuid], delivery.payload["item"]
        items[item] = items.get(item, 0) + 1


def connector_with_backpacks(
    client: AsyncHubClient, info: ServerRegistration, game: GameServer, backpacks: Backpacks
) -> HubConnector:
    options = ConnectorOptions(player_data=backpacks, player_namespaces=["backpack"])
    hub = HubConnector(client, info, game, options)
    hub.on_data_delivery("item", backpacks.give)
    return hub


async def wait_for_duel(hub: HubConnector, player: UUID) -> str:
    hub.on_place(lambda place: print(f"you are number {place.position} of {place.waiting}"))
    ticket = await hub.wait_in_line(TicketRequest(player_uuid=player, server_type="duels"))
    return "you are on your way" if ticket.match is not None and ticket.match.success else "you will be sent when it is your turn"
