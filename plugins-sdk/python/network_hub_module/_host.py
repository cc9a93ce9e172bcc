from collections.abc import Callable
from typing import TypeVar

from componentize_py_types import Err
from wit_world.imports.types import HostError_Invalid, HostError_QuotaExceeded

R = TypeVar("R")


class HostError(Exception):
    """Raised if a host function could not answer. Most modules should treat the data as absent.

    ``kind`` is ``invalid`` (an argument the hub can't accept), ``quota-exceeded`` (the store is full), ``unavailable`` (the
    hub could not reach its data in time) or ``forbidden`` (a scope for reading is not granted).
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def ask(call: Callable[..., R], *arguments: object) -> R:
    try:
        return call(*arguments)
    except Err as error:
        match error.value:
            case HostError_Invalid(why):
                raise HostError("invalid", why) from None
            case HostError_QuotaExceeded():
                raise HostError("quota-exceeded", "the module's key-value store is full") from None
            # Contract 1.0 has no such error.
            case other if type(other).__name__ == "HostError_Forbidden":
                raise HostError("forbidden", "a scope for reading is not granted") from None
            case _:
                raise HostError("unavailable", "the hub could not reach its data in time") from None
