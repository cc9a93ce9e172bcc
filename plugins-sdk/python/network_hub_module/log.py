"""The module's log, which its owner reads on the hub. A call keeps its first 64 lines, each cut at 2,048 bytes."""

from wit_world.imports import log as _log


def debug(message: str) -> None:
    """Logs a line for the author while developing."""
    _log.write(_log.Level.DEBUG, message)


def info(message: str) -> None:
    """Logs information."""
    _log.write(_log.Level.INFO, message)


def warn(message: str) -> None:
    """Logs a warning."""
    _log.write(_log.Level.WARN, message)


def error(message: str) -> None:
    """Logs an error."""
    _log.write(_log.Level.ERROR, message)
