"""Support for tests of connectors."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from uuid import UUID

from networkhub import AsyncHubClient, GameServer, HubClient
from networkhub.models import ChatMessage, Punishment, SignedTransferCommand

BINARY = os.environ.get("HUB_BINARY", "hub")


def free_port() -> int:
    """A port below those that systems give to connections, any of which could take it before a program listens."""
    while True:
        port = random.randrange(10_000, 30_000)
        with socket.socket() as free:
            if free.connect_ex(("127.0.0.1", port)) != 0:
                return port


class HubProcess:
    """A hub of its own in a folder of its own: the program that HUB_BINARY names, on a port that stays the same."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="hub-connector-test"))
        self.port = free_port()
        made = subprocess.run(
            [BINARY, "admin", "network", "create", "tests", "--json", "--data", self._folder], check=True, capture_output=True
        )
        self.key: str = json.loads(made.stdout)["apiKey"]
        """A key of the network's owner."""
        self._log = (self._folder / "log").open("ab")
        self.start()

    def start(self) -> None:
        command = [BINARY, "serve", "--listen", f"127.0.0.1:{self.port}", "--data", str(self._folder)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self._log, env={**os.environ, "HUB_LOG": "warn"})
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            raise RuntimeError("the hub did not start: " + (self._folder / "log").read_text())

    def kill(self) -> None:
        """Without a chance to clean up, as by kill -9."""
        self._process.kill()
        self._process.wait()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self) -> HubClient:
        return HubClient(self.url, self.key)

    def async_client(self) -> AsyncHubClient:
        return AsyncHubClient(self.url, self.key)

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self.kill()
        self._log.close()
        shutil.rmtree(self._folder)


class TcpProxy:
    """A connection to the hub that can be cut: then nothing gets through and nothing is refused, as when a cable is pulled."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._passes = threading.Event()
        self._passes.set()
        self._sockets: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        self._passes.clear()

    def heal(self) -> None:
        self._passes.set()

    def drop_connections(self) -> None:
        """Ends all connections, as a router does that restarts."""
        sockets, self._sockets = self._sockets, []
        for each in sockets:
            _end(each)

    def close(self) -> None:
        self.heal()
        _end(self._listener)
        self.drop_connections()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            self._sockets.append(near)
            threading.Thread(target=self._serve, args=(near,), daemon=True).start()

    def _serve(self, near: socket.socket) -> None:
        self._passes.wait()
        try:
            far = socket.create_connection(("127.0.0.1", self._target))
        except OSError:
            _end(near)
            return
        self._sockets.append(far)
        threading.Thread(target=self._copy, args=(near, far), daemon=True).start()
        self._copy(far, near)

    def _copy(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(8192):
                self._passes.wait()
                sink.sendall(data)
            self._passes.wait()
        except OSError:
            pass  # The connection is over.
        finally:
            _end(source)
            _end(sink)


def _end(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # It has ended already.
    connection.close()


class FakeGame(GameServer):
    """A game server that records its orders."""

    def __init__(self) -> None:
        self.transfers: list[SignedTransferCommand] = []
        self.kicked: list[UUID] = []
        self.chat: list[ChatMessage] = []
        self.commands: list[str] = []
        self.threads: list[threading.Thread] = []
        self.refuses_transfers = False

    def transfer_player(self, player: UUID, command: SignedTransferCommand) -> None:
        self.threads.append(threading.current_thread())
        if self.refuses_transfers:
            raise RuntimeError("the player is in a cutscene")
        self.transfers.append(command)

    def kick_player(self, player: UUID, reason: Punishment) -> None:
        self.kicked.append(player)

    def show_chat(self, message: ChatMessage) -> None:
        self.chat.append(message)

    def run_command(self, command: str) -> str:
        self.commands.append(command)
        if command == "fail":
            raise RuntimeError("no such command")
        return "ran " + command


async def eventually(what: str, condition: Callable[[], bool | Awaitable[bool]], patience: float = 60.0) -> None:
    """Returns when the condition holds; fails after a minute."""
    deadline = time.monotonic() + patience
    while True:
        holds = condition()
        if not isinstance(holds, bool):
            holds = await holds
        if holds:
            return
        assert time.monotonic() < deadline, f"it did not happen: {what}"
        await asyncio.sleep(0.02)


def soon(what: str, condition: Callable[[], bool], patience: float = 60.0) -> None:
    """Variant for threads."""
    deadline = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < deadline, f"it did not happen: {what}"
        time.sleep(0.02)


async def where(client: AsyncHubClient, player: UUID) -> str | None:
    """The server a player is on; None for none."""
    profile = await client.players.get(player)
    return None if profile is None or profile.connection is None else profile.connection.server_id


async def transfer_record(client: AsyncHubClient, transfer_id: UUID) -> tuple[str, str | None]:
    """A transfer's result and error message."""
    record = await client.call("GET", f"/api/manage/transfers/{transfer_id}")
    return record["result"], record["errorMessage"]
