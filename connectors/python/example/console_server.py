"""A game server without a game: players join, chat, buy and leave by lines on its console.

It has what a plugin for a real server has, with a main thread of its own, and shows all of it. HUB_URL and HUB_KEY say where
the hub is; arguments: SERVER_ID SERVER_TYPE PORT.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from decimal import Decimal
from typing import TypeVar
from uuid import NAMESPACE_DNS, UUID, uuid5

from networkhub import ConnectorOptions, GameServer, HubClient, HubError, JoinDecision, ThreadedHubConnector
from networkhub.models import ChatMessage, Punishment, ServerRegistration, SignedTransferCommand, TransferOutcome

T = TypeVar("T")

MESSAGES = {"en": {"welcome": "Welcome"}, "de": {"welcome": "Willkommen"}}


class ConsoleServer(GameServer):
    def __init__(self, client: HubClient, info: ServerRegistration) -> None:
        self.hub = ThreadedHubConnector(client, info, self, ConnectorOptions(namespace="console", messages=MESSAGES))
        self.tasks: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self.players: dict[str, UUID] = {}
        """Players on the server. Belongs to the main thread."""

    def run(self) -> None:
        threading.Thread(target=self.read_console, daemon=True).start()
        with self.hub:
            while (task := self.tasks.get()) is not None:
                task()

    def read_console(self) -> None:
        for line in sys.stdin:
            if line.strip() == "stop":
                break
            words = line.strip().split(maxsplit=2)
            self.run_on_main_thread(lambda words=words: self.act(words))  # type: ignore[misc]
        self.tasks.put(None)

    def act(self, words: list[str]) -> None:
        """join NAME · leave NAME · say NAME TEXT · play NAME SERVER_TYPE · buy NAME PRICE · status"""
        match words:
            case ["join", name]:
                self.join(id_of(name), name)
            case ["leave", name]:
                self.leave(name)
            case ["say", name, text]:
                self.say(id_of(name), name, text)
            case ["play", name, server_type]:
                self.play(id_of(name), name, server_type)
            case ["buy", name, price]:
                self.buy(id_of(name), Decimal(price))
            case ["status"]:
                write(str(self.hub.status))
            case _:
                write("unknown: " + " ".join(words))

    # Reports of the game to the hub.

    def join(self, player: UUID, name: str) -> None:
        def decided(decision: JoinDecision) -> None:
            if decision.allowed:
                self.players[name] = player
                self.hub.player_joined(player, name)
                write(f"{self.hub.localization.text(player, 'welcome')}, {name}")
            else:
                write(f"{name} may not join: {reason(decision)}")

        self.on_main_thread(self.hub.check_join(player, name), decided)

    def leave(self, name: str) -> None:
        player = self.players.pop(name, None)
        if player is not None:
            self.hub.player_left(player)

    def say(self, player: UUID, name: str, text: str) -> None:
        def refused(error: HubError) -> None:
            write(f"{name} cannot say that: {error}")

        self.on_main_thread(self.hub.send_chat(player, name, text), lambda _: None, refused)

    def play(self, player: UUID, name: str, server_type: str) -> None:
        def find() -> None:
            try:
                match = self.hub.client.matchmaking.find(server_type, player=player, player_name=name)
            except HubError as error:
                write(f"no match: {error}")
                return
            if match.matched_server is None:
                write(f"no place for {name}: {match.result}")
                return
            target = match.matched_server.server_id

            def sent(outcome: TransferOutcome) -> None:
                write(f"{name} goes to {target}: {outcome.result}")

            self.on_main_thread(self.hub.transfer(player, target), sent)

        beside(find)

    def buy(self, player: UUID, price: Decimal) -> None:
        def pay() -> None:
            try:
                spent = self.hub.client.economy.spend(player, "coins", price, "console shop")
                write(f"sold, {spent.balance:f} left")
            except HubError as error:
                write("too expensive" if error.code == "insufficient_funds" else f"not sold: {error}")

        beside(pay)

    # Requests of the hub to the game.

    def run_on_main_thread(self, task: Callable[[], None]) -> None:
        self.tasks.put(task)

    def transfer_player(self, player: UUID, command: SignedTransferCommand) -> None:
        # A real server sends the player's client there, who then leaves.
        if not self.remove(player):
            raise RuntimeError("the player has just left")
        write(f"sending {player} to {command.host}:{command.port}")

    def kick_player(self, player: UUID, reason: Punishment) -> None:
        self.remove(player)
        write(f"kicked {player}: {reason.reason}")

    def show_chat(self, message: ChatMessage) -> None:
        write(f"<{message.player_name}> {message.message}")

    def run_command(self, command: str) -> str:
        if command == "list":
            return ", ".join(sorted(self.players))
        raise ValueError(f"unknown command: {command}")

    def remove(self, player: UUID) -> bool:
        names = [name for name, each in self.players.items() if each == player]
        for name in names:
            self.leave(name)
        return bool(names)

    def on_main_thread(
        self, answer: Future[T], done: Callable[[T], None], failed: Callable[[HubError], None] | None = None
    ) -> None:
        """Goes on with an answer on the main thread."""

        def finish(answer: Future[T]) -> None:
            error = answer.exception()
            if error is None:
                done(answer.result())
            elif isinstance(error, HubError) and failed is not None:
                failed(error)
            else:
                write(f"failed: {error}")

        answer.add_done_callback(lambda answer: self.run_on_main_thread(lambda: finish(answer)))


def beside(work: Callable[[], None]) -> None:
    """Calls that wait for the hub run beside the main thread."""
    threading.Thread(target=work, daemon=True).start()


def id_of(name: str) -> UUID:
    """A real server has an id from the player's account."""
    return uuid5(NAMESPACE_DNS, f"{name}.console")


def reason(decision: JoinDecision) -> str:
    return f"banned for {decision.ban.reason}" if decision.ban is not None else "try again in a minute"


def write(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    server_id, server_type, port = sys.argv[1:]
    server = ServerRegistration(
        server_id=server_id,
        server_type=server_type,
        port=int(port),
        host="127.0.0.1",
        max_players=20,
        platform_name="console",
        platform_version="1",
    )
    ConsoleServer(HubClient(os.environ["HUB_URL"], os.environ["HUB_KEY"]), server).run()
