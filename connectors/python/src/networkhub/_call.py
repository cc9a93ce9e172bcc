"""Requests before they are sent, and how their answers are read. Nothing here does I/O, so both clients use it."""

from __future__ import annotations

import enum
import functools
import uuid
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, overload
from urllib.parse import quote, urlencode

from . import _json
from .errors import INVALID_ANSWER, HubError

if TYPE_CHECKING:
    from ._transport import AsyncTransport, SyncTransport

T = TypeVar("T")
P = ParamSpec("P")


class Repeat(enum.Enum):
    """Policy for repeating a call that may have been carried out."""

    SAFE = "a second time changes nothing more"
    KEYED = "an Idempotency-Key makes it safe"
    NEVER = "a second time might have a second effect"


@dataclass(frozen=True)
class Answer:
    """Answer of the hub."""

    status: int
    headers: dict[str, str]
    """By name in lower case."""
    text: str

    def parse(self) -> Any:
        """The body as it is."""
        return self.attempt(lambda: _json.parse(self.text))

    def read(self, kind: type[T]) -> T:
        """The body as a model."""
        return self.attempt(lambda: _json.read(kind, _json.parse(self.text)))

    def read_list(self, kind: type[T]) -> list[T]:
        """The body as a list of models."""
        return self.attempt(lambda: [_json.read(kind, item) for item in _json.parse(self.text)])

    def attempt(self, read: Callable[[], T]) -> T:
        """Reads the answer; fails with `invalid_answer` if it is not the hub's."""
        try:
            return read()
        except (ValueError, TypeError, LookupError, ArithmeticError) as malformed:
            raise HubError(
                INVALID_ANSWER,
                f"The hub's answer can't be read: {malformed}",
                status=self.status,
                request_id=self.headers.get("x-request-id"),
            ) from malformed


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request, and what reads its answer; where that is a further call, its answer counts."""

    method: str
    path: str
    read: Callable[[Answer], T | Call[T]]
    query: dict[str, str] = field(default_factory=dict)
    body: Any = None
    repeat: Repeat = Repeat.SAFE
    headers: dict[str, str] = field(default_factory=dict)
    is_optional: bool = False
    """True if 404 is an answer: there is none."""

    @property
    def target(self) -> str:
        """The path with the query."""
        return f"{self.path}?{urlencode(self.query, quote_via=quote)}" if self.query else self.path


def path(*segments: object) -> str:
    """The path of these segments below `/api/plugin`, each of which is escaped."""
    return "/api/plugin/" + "/".join(_escape(str(segment)) for segment in segments)


def _escape(segment: str) -> str:
    if not segment:
        raise ValueError("an identifier in a path must not be empty")
    # Two dots as they are would lead to the folder above.
    return segment.replace(".", "%2E") if segment in (".", "..") else quote(segment, safe="")


def query(**parameters: object) -> dict[str, str]:
    """These parameters under the wire's names, without those that are None."""
    return {name: _text(value) for name, value in _json.present(**parameters).items()}


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def new_key() -> str:
    """An `Idempotency-Key`."""
    return str(uuid.uuid4())


def keyed(key: str | None = None) -> dict[str, Any]:
    """Arguments for a call that is repeated under an `Idempotency-Key`, a new one unless given."""
    return {"repeat": Repeat.KEYED, "headers": {"Idempotency-Key": key or new_key()}}


def model(kind: type[T]) -> Callable[[Answer], T]:
    """Reads a model."""
    return lambda answer: answer.read(kind)


def optional(kind: type[T]) -> Callable[[Answer], T | None]:
    """Reads a model, or None where there is none."""
    return lambda answer: None if answer.status in (204, 404) else answer.read(kind)


def document(answer: Answer) -> Any:
    """Reads a document of any shape, or None where there is none."""
    return None if answer.status == 404 else _json.plain(answer.parse())


def listed(kind: type[T]) -> Callable[[Answer], list[T]]:
    """Reads a list of models."""
    return lambda answer: answer.read_list(kind)


def existed(answer: Answer) -> bool:
    """Returns true unless there was nothing to delete."""
    return answer.status != 404


def nothing(answer: Answer) -> None:
    """For calls that answer nothing."""


class Transport(Protocol):
    """A transport of calls."""

    def send(self, call: Call[Any]) -> Any:
        """The answer to a call, or what answers it when it is awaited."""


TransportT = TypeVar("TransportT", bound=Transport)


class Api(Generic[TransportT]):
    """Some calls of a client, over its transport."""

    def __init__(self, transport: TransportT) -> None:
        self._transport = transport


class operation(Generic[P, T]):  # noqa: N801 - used as a decorator
    """Makes a method that describes a call into one that makes it: at once in `HubClient`, awaited in `AsyncHubClient`."""

    def __init__(self, describe: Callable[Concatenate[Any, P], Call[T]]) -> None:
        self._describe = describe
        functools.update_wrapper(self, describe)  # type: ignore[arg-type]

    @overload
    def __get__(self, api: None, owner: type) -> operation[P, T]: ...
    @overload
    def __get__(self, api: Api[SyncTransport], owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, api: Api[AsyncTransport], owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, api: Api[Any] | None, owner: type) -> Any:
        if api is None:
            return self
        bound = api

        @functools.wraps(self._describe)
        def call(*args: P.args, **kwargs: P.kwargs) -> Any:
            return bound._transport.send(self._describe(bound, *args, **kwargs))

        return call
