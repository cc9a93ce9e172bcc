"""Members first: players with a permission wait less, and others with another one do not wait at all."""

from dataclasses import dataclass

from network_hub_module import CallContext, HostError, config, log, players
from network_hub_module.players import PermissionState
from network_hub_module.queue import Decision, Ticket, admit, refuse


@dataclass
class Config:
    # Permission of members.
    member_node: str = "queue.member"
    # Their priority; that of others is 0.
    member_priority: int = 100
    # Permission of players who may not wait; empty: none.
    blocked_node: str = ""


class Queue:
    def place(self, context: CallContext, ticket: Ticket) -> Decision:
        settings = config(context, Config)
        try:
            if has(ticket.player.uuid, settings.blocked_node):
                return refuse("You can't join games right now.")
            return admit(settings.member_priority if has(ticket.player.uuid, settings.member_node) else 0)
        except HostError as error:
            log.warn(f"permissions can't be read: {error}")
            return admit()


def has(uuid: str, node: str) -> bool:
    return node != "" and players.permission(uuid, node) is PermissionState.GRANTED
