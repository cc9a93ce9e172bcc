"""The module's log, read by its owner on the hub. A call keeps its first 64 lines, each cut at 2,048 bytes."""

from wit_world.imports import log as _log


def debug(message: str) -> None:
    """A line for the author while developing."""
    _log.write(_log.Level.DEBUG, message)


def info(message: str) -> None:
    """A line worth knowing."""
    _log.write(_log.Level.INFO, message)


def warn(message: str) -> None:
    """Something looks wrong."""
    _log.write(_log.Level.WARN, message)


def error(message: str) -> None:
    """Something is wrong."""
    _log.write(_log.Level.ERROR, message)
