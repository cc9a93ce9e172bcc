"""Streams and calls against a server that does what no hub does."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from uuid import UUID

import pytest
from support import FakeGame, eventually, soon

from networkhub import AsyncHubClient, EventStream, HubClient, HubConnector, HubError, RetryPolicy
from networkhub.connector.transfers import sign, signed_text
from networkhub.models import ServerRegistration, SignedTransferCommand


class OddHub:
    """Answers what a test says."""

    def __init__(self) -> None:
        self.answer: Callable[[BaseHTTPRequestHandler], None] = lambda request: None
        self.requests: list[dict[str, str]] = []
        odd = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                odd.requests.append({"path": self.path} | {name.lower(): value for name, value in self.headers.items()})
                odd.answer(self)
                self.close_connection = True

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                self.do_GET()

            def log_message(self, format: str, *arguments: object) -> None:
                pass  # The tests' output is for the tests.

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def odd() -> Iterator[OddHub]:
    hub = OddHub()
    yield hub
    hub.close()


def stream(request: BaseHTTPRequestHandler, text: str, silence: float = 0.0) -> None:
    request.send_response(200)
    request.end_headers()
    request.wfile.write(text.encode())
    request.wfile.flush()
    time.sleep(silence)


def reply(request: BaseHTTPRequestHandler, status: int, body: str, **headers: str) -> None:
    request.send_response(status)
    for name, value in headers.items():
        request.send_header(name.replace("_", "-"), value)
    request.send_header("Content-Length", str(len(body)))
    # Said, so that the client's next request is not sent into the end of this connection.
    request.send_header("Connection", "close")
    request.end_headers()
    request.wfile.write(body.encode())


def test_a_silent_stream_is_opened_again_where_it_ended(odd: OddHub) -> None:
    def answer(request: BaseHTTPRequestHandler) -> None:
        frame = f"retry: 10\nid: e-{len(odd.requests)}\nevent: CHAT\ndata: {{}}\n\n"
        stream(request, frame, silence=5.0)

    odd.answer = answer
    client = HubClient(odd.url, "key")
    events = EventStream(client._transport, "a", ["CHAT"], silence=1.5)
    ends: list[HubError] = []
    events.on_disconnected = ends.append
    seen = [event.type for event, _ in zip(events, range(3), strict=False)]
    assert seen == ["CHAT"] * 3
    assert [request.get("last-event-id") for request in odd.requests[:3]] == [None, "e-1", "e-2"]
    assert {error.code for error in ends} == {"unreachable"}


async def test_the_same_on_asyncio_and_an_unhandled_event_comes_again(odd: OddHub) -> None:
    odd.answer = lambda request: stream(request, f"retry: 10\nid: e-{len(odd.requests)}\nevent: CHAT\ndata: {{}}\n\n")
    async with AsyncHubClient(odd.url, "key") as client:
        events = client.events("a")
        count = 0
        async for _ in events:
            count += 1
            if count == 3:
                break
        # The third was not handled: its id is not sent.
        async for _ in events:
            break
    assert [request.get("last-event-id") for request in odd.requests] == [None, "e-1", "e-2", "e-2"]


async def test_malformed_event_does_not_end_the_stream(odd: OddHub) -> None:
    odd.answer = lambda request: stream(request, 'data: {}\n\nevent: CHAT\ndata: not json\n\nevent: PING\ndata: {"at":7}\n\n')
    seen: list[tuple[str, int]] = []
    async with AsyncHubClient(odd.url, "key") as client:
        async for event in client.events():
            seen.append((event.type, event.at))
            if event.type == "PING":
                break
    assert seen == [("CHAT", 0), ("PING", 7)]


async def test_a_refusal_is_told_and_tried_again(odd: OddHub) -> None:
    body = '{"error":"No.","code":"forbidden_scope","requestId":"r-1"}'
    odd.answer = lambda request: reply(request, 403, body)
    ends: list[HubError] = []
    async with AsyncHubClient(odd.url, "key") as client:
        events = client.events()
        events.on_disconnected = ends.append

        async def listen() -> None:
            async for _ in events:
                raise AssertionError("there is no event")

        listening = asyncio.create_task(listen())
        while len(ends) < 2:
            await asyncio.sleep(0.02)
        listening.cancel()
    assert (ends[0].code, ends[0].request_id) == ("forbidden_scope", "r-1")


def test_a_rate_limit_is_waited_for_as_long_as_the_hub_says(odd: OddHub) -> None:
    def answer(request: BaseHTTPRequestHandler) -> None:
        if len(odd.requests) == 1:
            reply(request, 429, '{"error":"Slow down.","code":"rate_limited"}', Retry_After="1")
        else:
            reply(request, 200, "[]")

    odd.answer = answer
    client = HubClient(odd.url, "key", retry=RetryPolicy(2, 0.0, 1.0))
    begin = time.monotonic()
    # Even a heartbeat: it surely was not carried out.
    client.servers.heartbeat("a")
    assert time.monotonic() - begin >= 1.0
    odd.requests.clear()
    with pytest.raises(HubError) as error:
        HubClient(odd.url, "key", retry=RetryPolicy(2, 0.0, 0.5)).permissions.groups()
    assert (error.value.code, error.value.retry_after) == ("rate_limited", 1.0)


def test_calls_are_repeated_under_one_key_unless_they_must_not(odd: OddHub) -> None:
    odd.answer = lambda request: reply(request, 503, '{"error":"Stopping.","code":"stopping"}')
    client = HubClient(odd.url, "key", retry=RetryPolicy(3, 0.0, 0.0))
    with pytest.raises(HubError):
        client.servers.heartbeat("a")
    assert len(odd.requests) == 1
    odd.requests.clear()
    with pytest.raises(HubError) as error:
        client.economy.modify("farm", "1", "coins", 1)
    assert error.value.is_transient
    assert len(odd.requests) == 3
    assert len({request["idempotency-key"] for request in odd.requests}) == 1


def test_an_answer_that_is_not_the_hubs_is_told_apart(odd: OddHub) -> None:
    client = HubClient(odd.url, "key", retry=RetryPolicy(1))
    for status, body, code in (
        (200, "<html>", "invalid_answer"),
        (200, "{}", "invalid_answer"),
        (404, "<html>", "invalid_answer"),
        (502, "<html>", "http_502"),
    ):
        odd.answer = lambda request, status=status, body=body: reply(request, status, body)  # type: ignore[misc]
        with pytest.raises(HubError) as error:
            client.config.get("a", "b")
        assert error.value.code == code


async def test_a_hub_that_does_not_answer_is_given_up_in_time(odd: OddHub) -> None:
    def drip(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", "1000")
        request.end_headers()
        for _ in range(1000):
            try:
                request.wfile.write(b" ")
                request.wfile.flush()
            except OSError:
                return
            time.sleep(0.1)

    odd.answer = drip
    async with AsyncHubClient(odd.url, "key", timeout=0.5, retry=RetryPolicy(1)) as client:
        begin = time.monotonic()
        with pytest.raises(HubError) as error:
            await client.permissions.groups()
        assert error.value.code == "unreachable"
        assert time.monotonic() - begin < 30
    soon("the server is done", lambda: len(odd.requests) == 1)


def test_more_players_than_fit_in_an_answer_are_read_to_the_end(odd: OddHub) -> None:
    def answer(request: BaseHTTPRequestHandler) -> None:
        player = f'[{{"playerUuid":"{UUID(int=len(odd.requests))}","serverId":"a","serverType":"b"}}]'
        reply(request, 200, player, **({"Next_Cursor": "c/1"} if len(odd.requests) == 1 else {}))

    odd.answer = answer
    players = HubClient(odd.url, "key").servers.online_players("b")
    assert [player.player_uuid.int for player in players] == [1, 2]
    assert odd.requests[1]["path"].endswith("?serverType=b&cursor=c%2F1")


async def test_a_join_keeps_its_key_while_it_is_unknown_whether_it_was_carried_out(odd: OddHub) -> None:
    registered = '{"serverId":"a","heartbeatIntervalMs":60000,"offlineAfterMs":90000,"signingSecret":"s"}'
    answers = [
        (503, '{"error":"Stopping.","code":"stopping"}'),
        (503, '{"error":"Stopping.","code":"stopping"}'),
        (400, '{"error":"Who?","code":"unknown_server"}'),
        (204, ""),
    ]
    keys: list[str] = []

    def answer(request: BaseHTTPRequestHandler) -> None:
        if request.path == "/api/plugin/servers/register":
            reply(request, 201, registered)
        elif request.path == "/api/plugin/servers/players":
            keys.append(request.headers["Idempotency-Key"])
            reply(request, *answers[len(keys) - 1])
        elif request.path.startswith("/api/plugin/servers/"):
            reply(request, 204, "")
        else:
            reply(request, 403, "{}")

    odd.answer = answer
    async with (
        AsyncHubClient(odd.url, "key") as client,
        HubConnector(client, ServerRegistration(server_id="a", server_type="a", port=1), FakeGame()) as connector,
    ):
        connector.player_joined(UUID(int=1), "Ann")
        await eventually("the join was told", lambda: connector.status.pending_changes == 0)
    # A refusal is kept with its key, so the join after it has another one.
    assert keys[0] == keys[1] == keys[2] != keys[3]
    assert len(keys) == 4


async def test_a_change_of_the_secret_is_newer_than_a_registrations_answer_under_way(odd: OddHub) -> None:
    asked, told = threading.Event(), threading.Event()
    rotated = '{"type":"SIGNING_SECRET_ROTATED","at":0,"signingSecret":"new","validUntil":1}'

    def answer(request: BaseHTTPRequestHandler) -> None:
        if request.path == "/api/plugin/servers/register":
            asked.set()
            told.wait(60)
            reply(request, 201, '{"serverId":"a","heartbeatIntervalMs":60000,"offlineAfterMs":90000,"signingSecret":"old"}')
        elif request.path.startswith("/api/plugin/events"):
            asked.wait(60)
            stream(request, f"event: SIGNING_SECRET_ROTATED\ndata: {rotated}\n\n", 5.0)
        elif request.path.startswith("/api/plugin/servers/"):
            reply(request, 204, "")
        else:
            reply(request, 403, "{}")

    odd.answer = answer
    command = SignedTransferCommand(
        transfer_id=UUID(int=1),
        player_uuid=UUID(int=2),
        target_server_id="a",
        host="10.0.0.1",
        port=25565,
        issued_at=0,
        expires_at=9_000_000_000_000,
        signature="",
    )
    command = replace(command, signature=sign("new", signed_text(command)))
    async with AsyncHubClient(odd.url, "key") as client:
        connector = HubConnector(client, ServerRegistration(server_id="a", server_type="a", port=1), FakeGame())
        connector.on("SIGNING_SECRET_ROTATED", lambda event: told.set())
        async with connector:
            await eventually("it is registered", lambda: connector.status.registered)
            assert connector.transfer_verifier.refusal(command, connector.hub_time() + 3_600_000) is None
