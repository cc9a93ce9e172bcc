"""The extension point ``events``: what happened in the network, after it happened. It needs contract 1.1.

A module has a class ``Events`` with the method ``handle(self, context: CallContext, event: Event) -> list[Effect]``, which
handles one event of the types that ``module.toml`` names. It raises ``Retry`` to be called again later, ``Reject`` for an
event that never can be handled; a ``HostError`` that is not caught is one of both. Nothing of the call is kept then.
"""

import json
from typing import Any

from wit_world.exports.events import Event as _Event
from wit_world.imports.types import Cause

from ._failures import Reject, Retry

__all__ = ["Cause", "Event", "Reject", "Retry"]


class Event(_Event):
    """Something that happened: ``id``, ``kind`` (such as ``BALANCE_CHANGED``), ``at_ms``, ``key`` (of its order),
    ``player_uuid``, ``player_name``, ``server_id``, and ``data``, the text of its fields."""

    def fields(self) -> dict[str, Any]:
        """The fields of its type, as on streams."""
        return json.loads(self.data)

    def player(self) -> str:
        """UUID of the player that it is about. Raises ``Reject`` if it is about none."""
        if self.player_uuid is None:
            raise Reject(f"{self.kind} is about no player")
        return self.player_uuid
