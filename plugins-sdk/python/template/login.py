"""Doorkeeper: while the network is closed only players with a permission may join, and new players may be kept out."""

from dataclasses import dataclass

from network_hub_module import CallContext, HostError, config, log, players
from network_hub_module.login import Attempt, Decision, allow, refuse
from network_hub_module.players import PermissionState


@dataclass
class Config:
    # Reason for keeping everybody else out; empty: the network is open.
    closed: str = ""
    # Permission of players who may always join.
    staff_node: str = "join.always"
    # False keeps players out whom the network has never seen.
    new_players: bool = True


class Login:
    def check(self, context: CallContext, attempt: Attempt) -> Decision:
        settings = config(context, Config)
        is_new = not settings.new_players and attempt.first_join
        if not (settings.closed or is_new) or is_staff(attempt.player.uuid, settings.staff_node):
            return allow()
        if settings.closed:
            return refuse(settings.closed, "closed")
        return refuse("New players can't join right now.", "new_player")


def is_staff(uuid: str, node: str) -> bool:
    try:
        return node != "" and players.permission(uuid, node) is PermissionState.GRANTED
    except HostError as error:
        log.warn(f"permissions can't be read: {error}")
        return False
