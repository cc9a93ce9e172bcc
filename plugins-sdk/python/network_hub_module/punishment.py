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
    """Accepts the punishment as proposed, with these further ones after it, at most 8."""
    return Verdict(Decision_Accept(), list(follow_ups))


def amend(terms: Terms, *follow_ups: Terms) -> Verdict:
    """Accepts the punishment on these terms instead, with these further ones after it, at most 8."""
    return Verdict(Decision_Amend(terms), list(follow_ups))


def refuse(reason: str) -> Verdict:
    """Refuses the punishment and shows its issuer the reason: 1 to 256 characters."""
    return Verdict(Decision_Refuse(reason), [])
