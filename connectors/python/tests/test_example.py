"""The examples as their readers run them: processes with consoles."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from console_server import id_of
from support import HubProcess, soon

EXAMPLES = Path(__file__).parent.parent / "example"


class Server:
    """A running example."""

    def __init__(self, hub: HubProcess, program: str, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(EXAMPLES / program), *arguments],
            env={**os.environ, "HUB_URL": hub.url, "HUB_KEY": hub.key},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.output: list[str] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.output.append(line.rstrip("\n"))

    def type(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def sees(self, line: str) -> None:
        try:
            soon(f"`{line}`", lambda: line in self.output)
        except AssertionError:
            raise AssertionError(f"`{line}` is not in {self.output}") from None


@contextmanager
def running(hub: HubProcess, program: str, server_id: str, *arguments: str) -> Iterator[Server]:
    server = Server(hub, program, *arguments)
    try:
        with hub.client() as client:

            def is_connected() -> bool:
                found = client.servers.search(search=server_id, online=True).items
                return any(each.connectivity == "CONNECTED" for each in found)

            soon(f"{server_id} is connected", is_connected)
        yield server
    finally:
        server.process.kill()
        server.process.wait()


@contextmanager
def console(hub: HubProcess, server_id: str, server_type: str) -> Iterator[Server]:
    with running(hub, "console_server.py", server_id, server_id, server_type, "25565") as server:
        yield server


def test_players_join_chat_are_sent_and_kept_out(hub: HubProcess) -> None:
    with console(hub, "lobby-1", "lobby") as lobby, console(hub, "arena-1", "arena") as arena, hub.client() as owner:
        lobby.type("join Ann")
        lobby.sees("Welcome, Ann")
        lobby.type("say Ann hello there")
        for each in (lobby, arena):
            each.sees("<Ann> hello there")
        lobby.type("play Ann arena")
        lobby.sees("Ann goes to arena-1: SUCCESS")
        lobby.sees(f"sending {id_of('Ann')} to 127.0.0.1:25565")
        arena.type("join Ann")
        arena.sees("Welcome, Ann")
        listed = owner.call("POST", "/api/manage/servers/arena-1/command", {"command": "list"})
        assert listed["output"] == "Ann"
        owner.punishments.punish(id_of("Ann"), "BAN", "cheating", player_name="Ann")
        arena.sees(f"kicked {id_of('Ann')}: cheating")
        lobby.type("join Ann")
        lobby.sees("Ann may not join: banned for cheating")
        lobby.type("stop")
        assert lobby.process.wait(20) == 0
        assert owner.servers.search("lobby", online=True).total == 0


def test_purchase_beyond_the_balance_is_refused(hub: HubProcess) -> None:
    with console(hub, "shop-1", "lobby") as shop, hub.client() as owner:
        owner.economy.modify("player", str(id_of("Ben")), "coins", 10)
        shop.type("buy Ben 7")
        shop.sees("sold, 3 left")
        shop.type("buy Ben 7")
        shop.sees("too expensive")


def test_the_smallest_server_has_a_player_and_a_console(hub: HubProcess) -> None:
    with running(hub, "smallest_server.py", "my-first-server"), hub.client() as owner:

        def is_there() -> bool:
            places = {each.player_name: each.server_id for each in owner.servers.online_players()}
            return places.get("Notch") == "my-first-server"

        soon("Notch is there", is_there)
        answer = owner.call("POST", "/api/manage/servers/my-first-server/command", {"command": "hello"})
        assert answer["output"] == "you said hello"
