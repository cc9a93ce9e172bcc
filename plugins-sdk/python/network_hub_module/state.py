"""The state of this module in this network, which is committed with the effects of its calls: all or nothing. It needs
contract 1.1.

Keys have 1 to 256 bytes, values up to 64 KiB. Each function is one of the call's host calls to data, and raises
``HostError`` if the hub cannot answer. Writes are seen by the same call; together they have up to 256 KiB. Calls behave as
though they ran one after the other: where something that a call read has changed when it ends, it runs again.
``increment`` reads nothing.

Overrides may read it, and have the ``store`` for their own writes.
"""

import builtins
from collections.abc import Sequence

from wit_world.imports import state as _state
from wit_world.imports.state import Entry

from ._host import ask

__all__ = ["Entry", "delete", "get", "get_many", "increment", "list", "set"]


def get(key: str) -> str | None:
    """The value of a key; ``None`` if it was never set, has been deleted or has expired."""
    return ask(_state.get, key)


def get_many(keys: Sequence[str]) -> "builtins.list[str | None]":
    """The values of 1 to 32 keys, in their order."""
    return ask(_state.get_many, builtins.list(keys))


def list(prefix: str, *, after: str | None = None, limit: int = 100) -> "builtins.list[Entry]":
    """The entries whose keys begin with ``prefix`` and come after ``after``, in the order of the keys' bytes: 1 to 100."""
    return ask(_state.list, prefix, after, limit)


def set(key: str, value: str, ttl_ms: int | None = None) -> None:
    """Sets a key. With ``ttl_ms`` (1 or more) it expires that long after the call's ``now_ms``, without it never."""
    ask(_state.set, key, value, ttl_ms)


def increment(key: str, by: int = 1, ttl_ms: int | None = None) -> None:
    """Adds to the whole number stored under a key.

    A missing key counts as 0 and is created with ``ttl_ms``; the expiry of a key that exists stays. A value that is no
    number fails the call at its end.
    """
    ask(_state.increment, key, by, ttl_ms)


def delete(key: str) -> None:
    """Deletes a key, if it is there."""
    ask(_state.delete, key)
