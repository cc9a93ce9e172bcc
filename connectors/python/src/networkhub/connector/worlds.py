"""Opening worlds."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from dataclasses import replace

from .. import _json
from ..client import AsyncHubClient
from ..errors import HubError
from ..events import HubEvent
from ..models import LiveServer, OpenedWorld, WorldRequest
from .persist import persist

_REMEMBERED = 256


class WorldOpener:
    """Opens worlds and waits until they are up."""

    def __init__(self, client: AsyncHubClient) -> None:
        self._client = client
        self._waiting: dict[str, asyncio.Future[LiveServer | None]] = {}
        """By lease; None says to ask again."""
        self._ready: OrderedDict[str, LiveServer] = OrderedDict()
        """Servers of recently opened worlds: the event may precede the answer."""

    async def open(self, request: WorldRequest, patience: float) -> OpenedWorld:
        """Opens a world; fails with `world_timeout` when so many seconds are over."""
        deadline = time.monotonic() + patience
        try:
            return await asyncio.wait_for(self._open(request, deadline), patience)
        except asyncio.TimeoutError:
            raise HubError("world_timeout", "The world was not up in time.") from None

    async def _open(self, request: WorldRequest, deadline: float) -> OpenedWorld:
        while True:
            # Asking again opens nothing twice.
            left = deadline - time.monotonic()
            answer = await persist(lambda: self._client.worlds.open(request), left)
            lease = answer.world_instance_id
            if answer.status != "LOADING" or lease is None:
                return answer
            server = self._ready.get(lease) or await asyncio.shield(self._wait_for(lease))
            if server is not None:
                return replace(answer, status="READY", matched_server=server)

    def _wait_for(self, lease: str) -> asyncio.Future[LiveServer | None]:
        if lease not in self._waiting:
            self._waiting[lease] = asyncio.get_running_loop().create_future()
        return self._waiting[lease]

    def ready(self, event: HubEvent) -> None:
        """WORLD_READY."""
        lease, server = event.text("worldInstanceId"), event.data.get("server")
        if lease is None:
            return
        live = None if server is None else _json.read(LiveServer, server)
        if live is not None:
            self._ready[lease] = live
            if len(self._ready) > _REMEMBERED:
                self._ready.popitem(last=False)
        waiting = self._waiting.pop(lease, None)
        if waiting is not None:
            waiting.set_result(live)

    def resync(self) -> None:
        """Events may have been missed."""
        self._ready.clear()
        waiting, self._waiting = self._waiting, {}
        for future in waiting.values():
            future.set_result(None)
