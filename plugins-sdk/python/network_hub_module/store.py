"""A key-value store that belongs to this module in this network, and outlives the call.

Keys have 1 to 256 bytes, values up to 64 KiB. Each function is one of the call's 8 host calls to data, and raises
``HostError`` if the hub cannot answer. Two calls of a module may run at once, so count with ``increment``.
"""

from wit_world.imports import store as _store

from ._host import ask


def get(key: str) -> str | None:
    """The value of a key; ``None`` if it was never set, has been deleted or has expired."""
    return ask(_store.get, key)


def set(key: str, value: str, ttl_ms: int | None = None) -> None:
    """Sets a key. With ``ttl_ms`` (1 or more) it expires after that time, without it never."""
    ask(_store.set, key, value, ttl_ms)


def increment(key: str, by: int = 1, ttl_ms: int | None = None) -> int:
    """Adds to the whole number stored under a key and returns the sum.

    A missing key counts as 0 and is created with ``ttl_ms``; the expiry of a key that exists stays, which makes this a
    counter over a fixed window.
    """
    return ask(_store.increment, key, by, ttl_ms)


def delete(key: str) -> bool:
    """Deletes a key; ``False`` if it did not exist."""
    return ask(_store.delete, key)
