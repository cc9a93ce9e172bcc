"""The extension point ``punishment``: every punishment, before it is made.

A module has a class ``Punishment`` with the method ``review(self, context: CallContext, proposal: Proposal) -> Verdict``.
"""

from wit_world.exports.punishment import (
    Decision_Accept,
    Decision_Amend,
    Decision_Refuse,
    Proposal,
    Terms,
    Verdict,
)

__all__ = ["Proposal", "Terms", "Verdict", "accept", "amend", "refuse"]


def accept(*follow_ups: Terms) -> Verdict:
    """The punishment is made as proposed, and then these further ones, at most 8."""
    return Verdict(Decision_Accept(), list(follow_ups))


def amend(terms: Terms, *follow_ups: Terms) -> Verdict:
    """The punishment is made on these terms instead, and then these further ones, at most 8."""
    return Verdict(Decision_Amend(terms), list(follow_ups))


def refuse(reason: str) -> Verdict:
    """The punishment is not made, and its issuer is told the reason: 1 to 256 characters."""
    return Verdict(Decision_Refuse(reason), [])
