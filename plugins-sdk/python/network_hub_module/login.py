"""The extension point ``login``: every player who joins, before they are let in. It needs contract 1.1.

A module has a class ``Login`` with the method ``check(self, context: CallContext, attempt: Attempt) -> Decision``. The
first refusal of the chain ends it. An ``Attempt`` has ``player``, ``ip_hash`` (tells addresses apart, within a day;
``None`` if it is not known), ``region`` (such as ``EUROPE``; ``UNKNOWN`` if there is none), ``server_id`` (the server
that asks; empty if it is not known), and ``first_join`` (true if the network has never seen the player).
"""

from wit_world.exports.login import Attempt, Decision, Decision_Allow, Decision_Refuse, Refusal

__all__ = ["Attempt", "Decision", "allow", "refuse"]


def allow() -> Decision:
    """Lets the player in."""
    return Decision_Allow()


def refuse(reason: str, kind: str) -> Decision:
    """Keeps the player out: a reason for them (1 to 256 characters), a kind for connectors (1 to 32 of
    ``a-z 0-9 _ -``)."""
    return Decision_Refuse(Refusal(reason, kind))
