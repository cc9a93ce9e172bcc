"""A hub to measure from outside, and callers for it. Needs nothing but Python."""

import http.client
import json
import pathlib
import random
import select
import signal
import socket
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONNECTIONS = 32
LINE = {
    "playerUuid": "069a79f4-44e9-4726-a5be-fca90e38aaf5",
    "playerName": "Notch",
    "message": "a quiet line",
    "serverId": "lobby-1",
}


def free_port():
    """A port below those that systems give to connections, any of which could take it before a program listens."""
    while True:
        port = random.randrange(10_000, 30_000)
        with socket.socket() as free:
            if free.connect_ex(("127.0.0.1", port)) != 0:
                return port


class Hub:
    def __init__(self, program, data, options=()):
        self.program, self.data, self.options, self.port = program, data, options, free_port()

    def start(self):
        """Starts the hub; returns the seconds until /readyz is 200."""
        started = time.perf_counter()
        self.process = subprocess.Popen(
            [self.program, "serve", "--data", self.data, "--listen", f"127.0.0.1:{self.port}", *self.options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while True:
            try:
                if self.call(None, "GET", "/readyz")[0] == 200:
                    return time.perf_counter() - started
            except OSError:
                time.sleep(0.002)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def network(self, name):
        """Creates a network; returns the key of its owner."""
        command = [self.program, "admin", "network", "create", name, "--json", "--data", self.data, *self.options]
        return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["apiKey"]

    def operator_key(self):
        command = [self.program, "admin", "key", "create", "--operator", "--json", "--data", self.data, *self.options]
        return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["apiKey"]

    def call(self, key, method, path, body=None, kind="application/json", connection=None):
        connection = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"Content-Type": kind} if body is not None else {}
        if key:
            headers["X-Service-Api-Key"] = key
        raw = isinstance(body, (bytes, bytearray, type(None)))
        connection.request(method, path, body if raw else json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, answer.read()

    def expect(self, *request, **options):
        status, body = self.call(*request, **options)
        assert status < 300, (request[1:3], status, body)
        return body

    def upload(self, key, name, component):
        self.expect(key, "POST", f"/api/manage/modules?name={name}", component, kind="application/wasm")

    def set_chain(self, key, links, point="chat"):
        self.expect(key, "PUT", f"/api/manage/extension-points/{point}", {"modules": links})

    def resident_bytes(self):
        """The memory of the process."""
        pages = pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * 4096


def request(key, method, path, body=None, headers=""):
    """A whole request as its bytes."""
    if body is not None and not isinstance(body, (bytes, bytearray)):
        body = json.dumps(body).encode()
    kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body is not None else ""
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nX-Service-Api-Key: {key}\r\n{kind}{headers}\r\n"
    return head.encode() + bytes(body or b"")


def chat_request(key):
    """The request, and the beginning of its answer."""
    return request(key, "POST", "/api/plugin/chat", LINE), b"HTTP/1.1 204 "


def payment_request(key):
    path = f"/api/plugin/economy/player/{LINE['playerUuid']}/currencies/modify"
    body = {"currency": "coins", "amount": 1, "reason": "load"}
    return request(key, "POST", path, body), b"HTTP/1.1 200 "


def run_caller(hub, call, rate, seconds, results):
    """Calls at a fixed rate, whether or not earlier calls are answered. Puts into `results`: the duration, the due time and
    latency of each call, and every wrong answer."""
    message, expected = call
    free = [socket.create_connection(("127.0.0.1", hub.port)) for _ in range(CONNECTIONS)]
    for connection in free:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    started, pending, latencies, wrong, number = time.perf_counter(), {}, [], [], 0
    while number < rate * seconds or pending:
        due = started + number / rate
        can_send = number < rate * seconds and free
        if can_send and time.perf_counter() >= due:
            connection = free.pop()
            connection.send(message)
            pending[connection] = due
            number += 1
            continue
        # Not `poll`: its resolution is a millisecond.
        readable, _, _ = select.select(list(pending), [], [], max(0, due - time.perf_counter()) if can_send else 60)
        for connection in readable:
            answer = connection.recv(65536)
            due = pending.pop(connection)
            latencies.append((due, time.perf_counter() - due))
            free.append(connection)
            if not answer.startswith(expected):
                wrong.append(answer)
    results.put((time.perf_counter() - started, latencies, wrong))


def p99_ms(latencies):
    return sorted(latency for _, latency in latencies)[len(latencies) * 99 // 100] * 1000
