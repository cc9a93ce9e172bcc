"""Wraps a module's classes; used by the build, not by authors."""

import sys
import time

from componentize_py_types import Err
from wit_world.imports import log


HANDLERS = {"Events", "Endpoints", "Schedules", "Timers"}

ERRORS = {"Refusal", "Failure_Retry", "Failure_Reject"}
"""In the contract, a refusal is the error of a ranking, and a failure that of a handler."""


def wrapped(point: type) -> type:
    """The class with the call's time and seed as clock and randomness, and with errors logged before they end a call."""
    # Importing it here would cost modules that do not use it.
    random = sys.modules.get("random")
    methods = {name: method for name, method in vars(point).items() if callable(method) and name[0] != "_"}
    if point.__name__ in HANDLERS:
        # Contract 1.0 has no effects.
        from ._handler import adapted

        methods = {name: adapted(point.__name__, method) for name, method in methods.items()}
    if point.__name__ == "Economy":
        from ._economy import adapted

        methods = {name: adapted(method) for name, method in methods.items()}
    methods = {name: _call(method, random) for name, method in methods.items()}
    return type(point.__name__, (point,), methods)


def refuse(module, name: str, interface: str) -> None:
    """Ends the build of a module with a class that would never be called."""
    if hasattr(module, name):
        raise TypeError(f"the module has a class {name}, but its module.toml does not declare `{interface}`")


def _call(method, random):
    def call(self, context, *rest):
        time.time = lambda: context.now_ms / 1000
        if random is not None:
            random.seed(context.seed)
        try:
            answer = method(self, context, *rest)
        except Exception as error:
            log.write(log.Level.ERROR, _described(error))
            raise
        if type(answer).__name__ in ERRORS:
            raise Err(answer)
        return answer

    return call


def _described(error: Exception) -> str:
    """The error and where it came from. Python's own `traceback` would read the sources, and there are no files here."""
    lines = [f"{type(error).__name__}: {error}"]
    at = error.__traceback__
    while at is not None:
        code = at.tb_frame.f_code
        lines.append(f"  {code.co_filename}:{at.tb_lineno} in {code.co_qualname}")
        at = at.tb_next
    return "\n".join(lines)
