"""Between the contract and the handlers of a module; used by the build, not by authors."""

import dataclasses
import json
from functools import wraps

from wit_world.imports import effects as contract

from ._failures import Reject, Retry
from ._host import HostError
from .effects import Effect


def adapted(point, handle):
    """The handler with its own events, effects and exceptions in the place of the contract's."""
    lifted, lowered = _forms(point)

    @wraps(handle)
    def call(self, context, given):
        try:
            return lowered(handle(self, context, lifted(given)))
        except Retry as error:
            return contract.Failure_Retry(str(error))
        except Reject as error:
            return contract.Failure_Reject(str(error))
        except HostError as error:
            return _failure(error)

    return call


def _failure(error):
    match error.kind:
        case "unavailable":
            return contract.Failure_Retry("the hub's data can't be reached")
        case "quota-exceeded":
            return contract.Failure_Retry("the module's state is full")
        case _:
            return contract.Failure_Reject(str(error))


def _json(value):
    return None if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _parts(amount):
    """Ten-thousandths of a currency's unit."""
    return round(amount * 10_000)


def _operation(operation):
    return contract.Operation(
        operation.owner_type, operation.owner_key, operation.currency, _parts(operation.amount)
    )


_CONVERSIONS = {
    ("ModifyCurrency", "amount"): _parts,
    ("Transaction", "operations"): lambda operations: [_operation(operation) for operation in operations],
    ("IncrementStatistic", "amount"): float,
    ("PutDocument", "document"): _json,
    ("PutDocument", "expected"): _json,
    ("DeleteDocument", "expected"): _json,
    ("Emit", "payload"): _json,
    ("Deliver", "payload"): _json,
    ("CallWebhook", "payload"): _json,
    ("SetTimer", "payload"): _json,
}


def _same(value):
    return value


def _plan(kind):
    """The contract's classes for an effect, and the conversion of each field in their order."""
    name = kind.__name__
    record = getattr(contract, name)
    fields = [field.name for field in dataclasses.fields(record)]
    return record, getattr(contract, f"Action_{name}"), [(field, _CONVERSIONS.get((name, field), _same)) for field in fields]


_PLANS = {kind: _plan(kind) for kind in Effect.__subclasses__()}


def _lowered(effect):
    plan = _PLANS.get(type(effect))
    if plan is None:
        raise TypeError(f"this is no effect: {effect!r}")
    record, action, fields = plan
    values = [convert(getattr(effect, field)) for field, convert in fields]
    return contract.Effect(action(record(*values)), effect.optional)


def _all_lowered(effects):
    return [_lowered(effect) for effect in effects or ()]


def _forms(point):
    """The author's form of what a point is given, and the contract's of what it answers."""
    # A module has the contract of its own points alone.
    match point:
        case "Events":
            from .events import Event

            return (lambda given: Event(**vars(given))), _all_lowered
        case "Schedules":
            from .schedules import Tick

            return (lambda given: Tick(**vars(given))), _all_lowered
        case "Timers":
            from .timers import Timer

            return (lambda given: Timer(**vars(given))), _all_lowered
        case _:
            return _endpoint_forms()


def _endpoint_forms():
    from wit_world.exports.endpoints import Response

    from .endpoints import Request

    def requested(given):
        return Request(**vars(given) | {"parameters": dict(given.parameters), "headers": dict(given.headers)})

    def responded(response):
        body = response.body.encode() if isinstance(response.body, str) else response.body
        return Response(response.status, [*response.headers.items()], body, _all_lowered(response.effects))

    return requested, responded
