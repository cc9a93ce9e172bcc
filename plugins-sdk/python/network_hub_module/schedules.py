"""The extension point ``schedules``: times that ``module.toml`` lists. Timers belong to it, too: see ``timers``. It
needs contract 1.1.

A module has a class ``Schedules`` with the method ``tick(self, context: CallContext, tick: Tick) -> list[Effect]``,
which runs one tick of a schedule; the next one does not begin before it has ended. It raises ``Retry`` to be called
again, 3 times in all, ``Reject`` for a tick that never can succeed; a ``HostError`` that is not caught is one of both.
Nothing of the call is kept then.
"""

from wit_world.exports.schedules import ScheduleTick as _Tick

from ._failures import Reject, Retry

__all__ = ["Reject", "Retry", "Tick"]


class Tick(_Tick):
    """A tick: ``schedule`` (its name in ``module.toml``), ``due_at_ms`` (the time at which it was due, which may lie in
    the past), ``missed`` (the number of ticks that were missed before it and are not made up for), and ``manual`` (true
    if somebody of the network's staff asked for it)."""
