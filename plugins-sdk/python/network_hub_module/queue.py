"""The extension point ``queue``: each new ticket of a waiting line. It needs contract 1.1.

A module has a class ``Queue`` with the method ``place(self, context: CallContext, ticket: Ticket) -> Decision``. The
priorities of the chain's modules add up; its first refusal ends it. A ``Ticket`` has ``player`` (a party's leader),
``members`` (the others of the party), ``server_type`` (empty if its server is not online), ``world_type`` and
``region`` (``None`` if there is none).
"""

from wit_world.exports.queue import Decision, Decision_Admit, Decision_Refuse, Ticket

__all__ = ["Decision", "Ticket", "admit", "refuse"]


def admit(priority: int = 0) -> Decision:
    """Lets it wait with this priority: -1000 to 1000, the highest first."""
    return Decision_Admit(priority)


def refuse(reason: str) -> Decision:
    """Refuses it for this reason: 1 to 256 characters."""
    return Decision_Refuse(reason)
