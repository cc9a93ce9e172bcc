"""Sends calls over httpx, and repeats those that may be repeated."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx

from . import _json
from ._call import Answer, Call, Repeat
from .errors import INVALID_ANSWER, UNREACHABLE, HubError

T = TypeVar("T")


@dataclass(frozen=True)
class RetryPolicy:
    """Policy for repeats of calls that may be repeated safely: how often, and how many seconds apart.

    The wait doubles with each attempt and is random between half and all of it, so that many servers do not come at once after an
    outage. Where the hub asks to wait for longer than `max_delay`, the call fails and the error says for how long.
    """

    attempts: int = 4
    """Maximum number of attempts of a call; 1 never repeats it."""
    first_delay: float = 0.25
    max_delay: float = 5.0

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.first_delay < 0 or self.max_delay < 0:
            raise ValueError("a retry policy needs one attempt or more and delays of 0 or more")

    def delay(self, failures: int) -> float:
        """The wait after so many failures in a row, from 1."""
        most = min(self.first_delay * 2.0 ** (min(failures, 30) - 1), self.max_delay)
        return most * random.uniform(0.5, 1.0)


NO_RETRIES = RetryPolicy(attempts=1)
"""Each call once."""


@dataclass(frozen=True)
class Settings:
    """Settings of a client. Times are seconds."""

    url: str
    api_key: str = field(repr=False)
    timeout: float = 15.0
    """For one attempt of a call."""
    connect_timeout: float = 5.0
    retry: RetryPolicy = RetryPolicy()

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise ValueError(f"the hub's address must begin with http:// or https://: {self.url}")
        if not self.api_key.strip():
            raise ValueError("the API key is blank")

    def request(self, call: Call[Any], timeout: httpx.Timeout | None = None) -> dict[str, Any]:
        """The arguments of httpx for a call."""
        headers = {"X-Service-Api-Key": self.api_key.strip(), **call.headers}
        content = None
        if call.body is not None:
            headers["Content-Type"] = "application/json"
            content = _json.write(call.body).encode()
        return {
            "method": call.method,
            "url": self.url.strip().rstrip("/") + call.target,
            "headers": headers,
            "content": content,
            "timeout": timeout or httpx.Timeout(self.timeout, connect=self.connect_timeout),
        }

    def delay_before_repeat(self, call: Call[Any], error: HubError, attempt: int) -> float | None:
        """Seconds until the next attempt; None if there is none."""
        # A call that was certainly not carried out may be repeated; any other only if a second time has no second effect.
        never_sent = isinstance(error.__cause__, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout))
        may_repeat = never_sent or error.status == 429 or call.repeat is not Repeat.NEVER
        if not error.is_transient or not may_repeat or attempt >= self.retry.attempts:
            return None
        delay = self.retry.delay(attempt) if error.retry_after is None else error.retry_after
        return delay if delay <= self.retry.max_delay else None


def read_answer(call: Call[Any], response: httpx.Response) -> Answer:
    """The answer to a call that the hub accepted; raises its error otherwise."""
    answer = Answer(response.status_code, {name.lower(): value for name, value in response.headers.items()}, response.text)
    if answer.status < 300 or answer.status == 304:
        return answer
    error = error_of(answer)
    if answer.status == 404 and call.is_optional and error.code != INVALID_ANSWER:
        return answer
    raise error


def error_of(answer: Answer) -> HubError:
    """Returns the error of an answer."""
    body = _json.parse_object(answer.text)
    code, message = body.get("code"), body.get("error")
    if not isinstance(code, str):
        # A gateway in front of the hub answers in a way of its own.
        is_gateway = answer.status >= 500 or answer.status == 429
        code = f"http_{answer.status}" if is_gateway else INVALID_ANSWER
    return HubError(
        code,
        message if isinstance(message, str) else f"The hub's address answered {answer.status} without saying why.",
        status=answer.status,
        request_id=answer.headers.get("x-request-id") or body.get("requestId"),
        retry_after=_seconds(answer.headers.get("retry-after")),
        details=body,
    )


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.strip().isdecimal() else None


def unreachable(failure: Exception) -> HubError:
    """The error of a call without an answer."""
    error = HubError(UNREACHABLE, f"The hub does not answer: {str(failure) or type(failure).__name__}")
    error.__cause__ = failure
    return error


class SyncTransport:
    """Makes calls at once; the caller's thread waits."""

    def __init__(self, settings: Settings, http: httpx.Client) -> None:
        self.settings = settings
        self.http = http

    def send(self, call: Call[T]) -> T:
        """The answer to a call."""
        request = self.settings.request(call)
        for attempt in itertools.count(1):
            try:
                result = call.read(self._exchange(call, request))
                return self.send(result) if isinstance(result, Call) else result
            except HubError as error:
                delay = self.settings.delay_before_repeat(call, error, attempt)
                if delay is None:
                    raise
            time.sleep(delay)
        raise AssertionError("unreachable: the loop has no end")

    def _exchange(self, call: Call[Any], request: dict[str, Any]) -> Answer:
        try:
            return read_answer(call, self.http.request(**request))
        except httpx.HTTPError as failure:
            raise unreachable(failure) from failure


class AsyncTransport:
    """Makes calls on an asyncio event loop."""

    def __init__(self, settings: Settings, http: httpx.AsyncClient) -> None:
        self.settings = settings
        self.http = http

    async def send(self, call: Call[T]) -> T:
        """The answer to a call."""
        request = self.settings.request(call)
        for attempt in itertools.count(1):
            try:
                result = call.read(await self._exchange(call, request))
                return await self.send(result) if isinstance(result, Call) else result
            except HubError as error:
                delay = self.settings.delay_before_repeat(call, error, attempt)
                if delay is None:
                    raise
            await asyncio.sleep(delay)
        raise AssertionError("unreachable: the loop has no end")

    async def _exchange(self, call: Call[Any], request: dict[str, Any]) -> Answer:
        try:
            # httpx limits each read, and this the whole.
            response = await asyncio.wait_for(self.http.request(**request), self.settings.timeout)
            return read_answer(call, response)
        except asyncio.TimeoutError as failure:
            raise unreachable(httpx.ReadTimeout("no answer in time")) from failure
        except httpx.HTTPError as failure:
            raise unreachable(failure) from failure
