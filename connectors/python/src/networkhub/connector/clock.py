"""The hub's time."""

from __future__ import annotations

import time
from collections import deque


def local_ms() -> int:
    """This machine's time in milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


class HubClock:
    """The hub's time, by its pings: a server's own clock may be wrong by more than a command is good for.

    Any thread may ask for it.
    """

    def __init__(self) -> None:
        self._offsets: deque[int] = deque(maxlen=4)
        self._offset = 0

    def ping(self, sent_at: int) -> None:
        """A ping that was sent at this time came just now."""
        self._offsets.append(sent_at - local_ms())
        # The least delayed ping is the most exact.
        self._offset = max(self._offsets)

    def now(self) -> int:
        """Milliseconds since the epoch."""
        return local_ms() + self._offset
