"""The extension point ``endpoints``: requests to the network's own routes. It needs contract 1.1.

A module has a class ``Endpoints`` with the method ``answer(self, context: CallContext, request: Request) -> Response``,
which answers a request to one of the endpoints that ``module.toml`` lists. What is wrong with a request is an answer, such
as ``error(400, …)``. Whatever is raised, a ``Retry``, ``Reject`` or ``HostError`` too, is a failure: nothing of the call
is kept, and the caller gets 502 ``module_failed``.
"""

import dataclasses
import json as _json
from collections.abc import Mapping, Sequence
from typing import Any

from wit_world.exports.endpoints import Caller, CallerKind

from ._failures import Reject, Retry
from .effects import Effect

__all__ = ["Caller", "CallerKind", "Reject", "Request", "Response", "Retry", "empty", "error", "json", "text"]


@dataclasses.dataclass(kw_only=True)
class Request:
    """A request, after the hub has checked its route, size, signature and schema."""

    endpoint: str
    """Name of the endpoint in ``module.toml``."""
    method: str
    """``GET``, ``POST``, ``PUT``, ``PATCH`` or ``DELETE``."""
    path: str
    """The path after the module's name."""
    parameters: Mapping[str, str]
    """Parameters of the path by name."""
    query: Sequence[tuple[str, str]]
    """The query, decoded, in its order: up to 64 pairs."""
    headers: Mapping[str, str]
    """``content-type`` and those that ``module.toml`` lists, by name in lower case."""
    body: bytes
    """Up to 64 KiB."""
    dedupe: str | None
    """Key by which repeats are recognised; ``None`` if the endpoint has none."""
    caller: Caller
    """Its sender: ``kind``, ``id`` of the key or person (otherwise empty), ``servers`` that a key is bound to."""
    address_hash: str
    """Tells addresses of clients apart, within a day."""
    address: str | None
    """Address of the client; ``None`` unless the owner granted ``players:ip``."""

    def first(self, name: str) -> str | None:
        """The first value of a name in the query; ``None`` if it is not there."""
        return next((value for found, value in self.query if found == name), None)

    def json(self) -> Any:
        """The body read as JSON; ``None`` if it is none. The hub has checked it against the endpoint's schema, if there
        is one."""
        try:
            return _json.loads(self.body)
        except ValueError:
            return None

    def fields(self) -> dict[str, Any]:
        """The fields of the body if it is a JSON object; otherwise none."""
        body = self.json()
        return body if isinstance(body, dict) else {}


@dataclasses.dataclass
class Response:
    """An answer. ``json``, ``text``, ``error`` and ``empty`` make one."""

    status: int
    """200 to 299, 303, or 400 to 422 except 401, 403 and 413."""
    body: bytes | str = b""
    """Up to 256 KiB; a text is sent as UTF-8."""
    _: dataclasses.KW_ONLY
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """``content-type``, ``cache-control``, ``etag``, ``location`` and ``x-…``, in lower case: up to 16, 4 KiB."""
    effects: Sequence[Effect] = ()
    """Committed before the answer is sent. None for ``GET``."""


def json(
    status: int, value: object, *, headers: Mapping[str, str] | None = None, effects: Sequence[Effect] = ()
) -> Response:
    """An answer in JSON."""
    body = _json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _typed("application/json", status, body, headers, effects)


def text(
    status: int, body: str, *, headers: Mapping[str, str] | None = None, effects: Sequence[Effect] = ()
) -> Response:
    """An answer in plain text."""
    return _typed("text/plain; charset=utf-8", status, body, headers, effects)


def error(status: int, code: str, message: str) -> Response:
    """An error in the form of the hub's own: ``{"error": message, "code": code}``."""
    return json(status, {"error": message, "code": code})


def empty(status: int = 204, *, effects: Sequence[Effect] = ()) -> Response:
    """An answer without a body, such as 204."""
    return Response(status, effects=effects)


def _typed(
    content_type: str, status: int, body: str, headers: Mapping[str, str] | None, effects: Sequence[Effect]
) -> Response:
    return Response(status, body, headers={"content-type": content_type, **(headers or {})}, effects=effects)
