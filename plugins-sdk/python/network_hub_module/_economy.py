"""Between the contract and the point ``economy`` of a module; used by the build, not by authors."""

from functools import wraps

from wit_world.exports import economy as contract

from .economy import Change, Operation

UNIT = 10_000
"""Ten-thousandths of a currency's unit."""


def adapted(review):
    """The method with its own change and decision. The contract's amounts are in ten-thousandths."""

    @wraps(review)
    def call(self, context, given):
        operations = [Operation(**vars(it) | {"amount": it.amount / UNIT}) for it in given.operations]
        decision = review(self, context, Change(**vars(given) | {"operations": operations}))
        if decision.refusal is not None:
            return contract.Decision_Refuse(decision.refusal)
        if decision.amount is not None:
            return contract.Decision_Amend(round(decision.amount * UNIT))
        return contract.Decision_Accept()

    return call
