"""Timers: calls at times that effects set, by ``effects.set_timer``. They are served at the extension point
``schedules``, and ``module.toml`` declares them: ``timers = true``. They need contract 1.1.

A module has a class ``Timers`` with the method ``fire(self, context: CallContext, timer: Timer) -> list[Effect]``, which
runs one timer; those of one key run one after the other. It raises ``Retry`` to be called again later, 8 times in all,
``Reject`` for a timer that never can succeed; a ``HostError`` that is not caught is one of both. Nothing of the call is
kept then.
"""

import json
from typing import Any

from wit_world.exports.timers import Timer as _Timer

from ._failures import Reject, Retry

__all__ = ["Reject", "Retry", "Timer"]


class Timer(_Timer):
    """A timer: ``key``, ``at_ms`` (the time for which it was set), and ``payload``, the text that it was set with."""

    def fields(self) -> dict[str, Any]:
        """The payload that it was set with, maybe by another version of the module."""
        return json.loads(self.payload)
