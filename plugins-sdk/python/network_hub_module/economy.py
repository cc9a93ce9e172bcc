"""The extension point ``economy``: changes of balances that connectors ask for, before they are made. It needs contract
1.1. Amounts are units of the currency, with up to four decimals.

A module has a class ``Economy`` with the method ``review(self, context: CallContext, change: Change) -> Decision``. The
first refusal of the chain ends it.
"""

from dataclasses import dataclass

from wit_world.exports.economy import ChangeKind

__all__ = ["Change", "ChangeKind", "Decision", "Operation", "accept", "amend", "refuse"]


@dataclass(kw_only=True)
class Operation:
    """Adds to a balance."""

    owner_type: str
    """``player`` or another kind of owner."""
    owner_key: str
    """The owner: for players their UUID."""
    currency: str
    amount: float
    """Units; negative takes away."""


@dataclass(kw_only=True)
class Change:
    """A change of balances."""

    kind: ChangeKind
    """``MODIFY``: one operation, which may be amended. ``TRANSACTION``: all of them or none, accepted or refused."""
    operations: list[Operation]
    """With the amendments of the modules before in the chain."""
    reason: str | None
    """Reason for the ledger."""
    server_id: str | None
    """The server for which it is made; ``None`` if it is not known."""

    def single(self) -> Operation | None:
        """The operation of a ``MODIFY``, which alone may be amended; ``None`` of a transaction."""
        return self.operations[0] if self.kind is ChangeKind.MODIFY else None


@dataclass
class Decision:
    """The module's answer. ``accept``, ``amend`` and ``refuse`` make one."""

    amount: float | None = None
    """Another amount."""
    refusal: str | None = None
    """Reason of a refusal."""


def accept() -> Decision:
    """Makes it unchanged."""
    return Decision()


def amend(amount: float) -> Decision:
    """Makes it with this amount instead: of the same sign, and not 0. For a ``MODIFY`` alone."""
    return Decision(amount=amount)


def refuse(reason: str) -> Decision:
    """Refuses it for this reason: 1 to 256 characters."""
    return Decision(refusal=reason)
