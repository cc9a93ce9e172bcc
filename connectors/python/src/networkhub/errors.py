"""The one kind of exception that all calls fail with."""

from __future__ import annotations

from typing import Any

UNREACHABLE = "unreachable"
"""The code of a call without an answer: it may have been carried out, or not."""

INVALID_ANSWER = "invalid_answer"
"""The code of an answer that is not the hub's."""


class HubError(Exception):
    """Failure of a call.

    `code` is stable and meant for programs, `str(error)` for people. Codes are those of the hub (`insufficient_funds`,
    `version_conflict`, …) and two of this library: `unreachable` and `invalid_answer`.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int = 0,
        request_id: str | None = None,
        retry_after: float | None = None,
        details: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        """The stable code."""
        self.status = status
        """The HTTP status; 0 where there was no answer."""
        self.request_id = request_id
        """The request's id in the hub's log, to be quoted in reports."""
        self.retry_after = retry_after
        """Seconds that the hub asks to wait before the next attempt."""
        self.details: dict[str, Any] = details or {}
        """The error's further fields, such as `limit`, `value` and `used` of `quota_exceeded`."""

    @property
    def is_transient(self) -> bool:
        """True if a later attempt may succeed: no answer, a hub that is stopping or overloaded, or a rate limit."""
        return self.code == UNREACHABLE or self.status in (429, 502, 503, 504)

    @property
    def message(self) -> str:
        """The sentence for people."""
        return str(self)
