"""Recipes of the guide."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

from networkhub import CachedConfig, HubConnector, HubError
from networkhub.models import DataEntry, Match, TransactionReceipt, TransferOutcome, WorldRequest


async def buy(hub: HubConnector, player: UUID, price: Decimal) -> bool:
    """Sells something; False if the player cannot pay."""
    try:
        await hub.client.economy.spend(player, "coins", price, "sword")
    except HubError as error:
        if error.code == "insufficient_funds":
            return False
        raise
    return True


async def pay(hub: HubConnector, sender: UUID, receiver: UUID, amount: Decimal) -> TransactionReceipt:
    """Moves money between players."""
    return await hub.client.economy.pay(sender, receiver, "coins", amount, "/pay")


async def change(hub: HubConnector, player: UUID, apply: Callable[[dict[str, Any]], dict[str, Any]]) -> DataEntry:
    """Changes a player's data so that no other server's change is lost."""
    players = hub.client.players
    while True:
        read = await players.get_data(player, "skyblock", "profile")
        data, version = ({}, 0) if read is None else (json.loads(read.data), read.version)
        try:
            return await players.put_data(player, "skyblock", "profile", json.dumps(apply(data)), version)
        except HubError as error:
            if error.code != "version_conflict":
                raise


async def play_together(hub: HubConnector, leader: UUID, name: str, party: Sequence[UUID]) -> Match:
    """Finds a place for a party and sends everybody there."""
    match = await hub.client.matchmaking.find("bedwars", player=leader, player_name=name, party=party)
    if match.matched_server is not None:
        for player in party:
            await hub.transfer(player, match.matched_server.server_id)
    return match


async def visit_island(hub: HubConnector, player: UUID) -> TransferOutcome:
    """Opens a player's island, wherever it runs, and sends them there."""
    world = await hub.open_world(WorldRequest(game_id="islands", owner_scope="player", owner_id=str(player)))
    if world.matched_server is None:
        raise HubError("no_island", world.error_message or "the island is not up")
    return await hub.transfer(player, world.matched_server.server_id, world.world_instance_id)


def rounds(hub: HubConnector) -> CachedConfig:
    """A setting that operators change while the server runs."""
    rules = hub.config("bedwars", "rules", {"rounds": 3})
    return rules.on_change(lambda doc: print("rounds are", doc["rounds"]))
