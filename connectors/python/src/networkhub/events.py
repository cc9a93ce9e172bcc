"""The event stream: server-sent events that resume where they ended."""

from __future__ import annotations

import asyncio
import builtins
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx

from . import _json
from ._call import Answer, Call, nothing, path, query
from ._transport import AsyncTransport, RetryPolicy, SyncTransport, error_of, unreachable
from .errors import UNREACHABLE, HubError

T = TypeVar("T")

_DELAYS = RetryPolicy(first_delay=0.5, max_delay=10.0)
_OPENING = 10.0


@dataclass(frozen=True, slots=True)
class HubEvent:
    """An event of the stream."""

    type: str
    """Its name, such as `CHAT`."""
    at: int
    """When it happened, in milliseconds since the epoch by the hub's clock."""
    data: dict[str, Any]
    """All its fields as on the wire; numbers with a fraction are decimals."""

    def read(self, kind: builtins.type[T]) -> T:
        """Its fields as a model, such as `ChatMessage` for CHAT."""
        return _json.read(kind, self.data)

    def text(self, name: str) -> str | None:
        """A text field; None where there is none."""
        value = self.data.get(name)
        return value if isinstance(value, str) else None


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame of server-sent events."""

    event: str | None
    data: str | None
    id: str | None
    """The id to resume from, of this frame or an earlier one."""


class SseParser:
    """Reads server-sent events from bytes, however they are cut."""

    def __init__(self) -> None:
        self.retry: float | None = None
        """Seconds that the hub asks to wait before reconnecting."""
        self._line = bytearray()
        self._after_return = False
        self._event: str | None = None
        self._data: list[str] = []
        self._id: str | None = None

    def feed(self, chunk: bytes) -> list[Frame]:
        """The frames that end in these bytes."""
        frames = []
        # A line ends with \n, \r or \r\n, which may be cut in two.
        if self._after_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]
            self._after_return = False
        elif chunk:
            self._after_return = False
        if chunk.endswith(b"\r"):
            self._after_return = True
        self._line += chunk
        lines = self._line.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._line = lines.pop()
        for line in lines:
            frame = self._end_line(line.decode(errors="replace"))
            if frame is not None:
                frames.append(frame)
        return frames

    def _end_line(self, line: str) -> Frame | None:
        if not line:
            frame = None
            if self._event is not None or self._data or self._id is not None:
                frame = Frame(self._event, "\n".join(self._data) if self._data else None, self._id)
            self._event, self._data = None, []
            return frame
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._event = value
        elif name == "data":
            self._data.append(value)
        elif name == "id":
            self._id = value
        elif name == "retry" and value.isdecimal() and len(value) < 10:
            self.retry = int(value) / 1000
        return None  # Anything else is a comment, or a field of the future.


class _StreamState:
    """State of a stream between connections. Does no I/O."""

    def __init__(self, server_id: str | None, types: Sequence[str]) -> None:
        self.server_id = server_id
        self.types = types
        self._last_event_id: str | None = None
        self._parser = SseParser()
        self._failures = 0
        self._is_open = False
        self._retry: float | None = None

    def request(self) -> Call[None]:
        headers = {"Accept": "text/event-stream", "Accept-Encoding": "identity"}
        if self._last_event_id is not None:
            headers["Last-Event-ID"] = self._last_event_id
        parameters = query(server_id=self.server_id, types=",".join(self.types) or None)
        return Call("GET", path("events"), nothing, parameters, headers=headers)

    def opened(self) -> None:
        self._parser = SseParser()
        self._failures = 0
        self._is_open = True

    def feed(self, chunk: bytes) -> Iterator[HubEvent]:
        """The events that end in these bytes. An event counts as handled when the next one is asked for."""
        for frame in self._parser.feed(chunk):
            if frame.data is not None:
                data = _json.parse_object(frame.data)
                name = frame.event or data.get("type")
                at = data.get("at")
                if isinstance(name, str):
                    yield HubEvent(name, at if isinstance(at, int) else 0, data)
            # Only now: what was not handled comes again.
            self._last_event_id = frame.id or self._last_event_id
        self._retry = self._retry if self._parser.retry is None else self._parser.retry

    def delay(self, error: HubError) -> float:
        """Wait before the next connection."""
        self._failures += 1
        # A stream that was open ended with many others: the hub has said how to spread out.
        was_open, self._is_open = self._is_open, False
        if was_open and self._retry is not None:
            return self._retry
        return max(_DELAYS.delay(self._failures), error.retry_after or 0.0)


class EventStreamBase:
    """Common part of both kinds of streams. Callbacks are called by the iterating thread or task."""

    def __init__(self, server_id: str | None, types: Sequence[str], silence: float) -> None:
        self._state = _StreamState(server_id, types)
        self._silence = silence
        self.on_open: Callable[[], None] = lambda: None
        """Called when the stream is open."""
        self.on_disconnected: Callable[[HubError], None] = lambda error: None
        """Called with why the stream ended or could not be opened; it will be tried again."""

    def set_types(self, types: Sequence[str]) -> None:
        """Changes the events to carry, from the next connection on."""
        self._state.types = types

    def _timeout(self, connect: float) -> httpx.Timeout:
        return httpx.Timeout(_OPENING, connect=connect, read=self._silence)


def _error(response: httpx.Response) -> HubError:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return error_of(Answer(response.status_code, headers, response.text))


class EventStream(EventStreamBase):
    """The events of a hub, to be iterated over; see `HubClient.events`."""

    def __init__(self, transport: SyncTransport, server_id: str | None, types: Sequence[str], silence: float) -> None:
        super().__init__(server_id, types, silence)
        self._transport = transport

    def __iter__(self) -> Iterator[HubEvent]:
        while True:
            try:
                yield from self._connection()
                error = HubError(UNREACHABLE, "The hub ended the event stream.")
            except httpx.HTTPError as failure:
                error = unreachable(failure)
            except HubError as failure:
                error = failure
            self.on_disconnected(error)
            time.sleep(self._state.delay(error))

    def _connection(self) -> Iterator[HubEvent]:
        settings = self._transport.settings
        timeout = self._timeout(settings.connect_timeout)
        with self._transport.http.stream(**settings.request(self._state.request(), timeout)) as response:
            if response.status_code != 200:
                response.read()
                raise _error(response)
            self._state.opened()
            self.on_open()
            for chunk in response.iter_bytes():
                yield from self._state.feed(chunk)


class AsyncEventStream(EventStreamBase):
    """The events of a hub, to be iterated over; see `AsyncHubClient.events`."""

    def __init__(self, transport: AsyncTransport, server_id: str | None, types: Sequence[str], silence: float) -> None:
        super().__init__(server_id, types, silence)
        self._transport = transport

    async def __aiter__(self) -> AsyncIterator[HubEvent]:
        while True:
            response: httpx.Response | None = None
            try:
                response = await self._open()
                self._state.opened()
                self.on_open()
                async for chunk in response.aiter_bytes():
                    for event in self._state.feed(chunk):
                        yield event
                error = HubError(UNREACHABLE, "The hub ended the event stream.")
            except httpx.HTTPError as failure:
                error = unreachable(failure)
            except HubError as failure:
                error = failure
            finally:
                if response is not None:
                    await response.aclose()
            self.on_disconnected(error)
            await asyncio.sleep(self._state.delay(error))

    async def _open(self) -> httpx.Response:
        settings, http = self._transport.settings, self._transport.http
        timeout = self._timeout(settings.connect_timeout)
        request = http.build_request(**settings.request(self._state.request(), timeout))
        try:
            response = await asyncio.wait_for(http.send(request, stream=True), _OPENING)
        except asyncio.TimeoutError as failure:
            raise unreachable(httpx.ReadTimeout("the event stream did not open in time")) from failure
        if response.status_code != 200:
            try:
                await response.aread()
            finally:
                await response.aclose()
            raise _error(response)
        return response
