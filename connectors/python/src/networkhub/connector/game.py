"""The interface that a plugin implements."""

from __future__ import annotations

import asyncio
import inspect
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import TypeVar
from uuid import UUID

from ..models import ChatMessage, Punishment, SignedTransferCommand

T = TypeVar("T")


class GameServer(ABC):
    """A game server or proxy, as the hub needs it; the only interface that a plugin implements.

    All methods are called through `run_on_main_thread`, where a plugin may touch the game. In a game that runs on the
    connector's event loop they may be coroutine functions. Whatever they raise is reported to the hub or logged; it stops
    nothing.
    """

    def run_on_main_thread(self, task: Callable[[], None]) -> None:
        """Hands a task to the main thread, to run there soon; called on the connector's thread, and must return at once.

        A game that runs on the connector's event loop leaves this as it is. Any other one overrides it.
        """
        task()

    @abstractmethod
    def transfer_player(self, player: UUID, command: SignedTransferCommand) -> Awaitable[None] | None:
        """Sends a player of this server to another one.

        The command is verified: it is signed, not expired, not used before, and the player is here. On a proxy connect them to
        the server `target_server_id`; on a game server use the transfer packet to `host` and `port`. Raise where that is
        not possible; the hub learns the message.
        """

    @abstractmethod
    def kick_player(self, player: UUID, reason: Punishment) -> Awaitable[None] | None:
        """Removes a player of this server, who was banned or kicked."""

    @abstractmethod
    def show_chat(self, message: ChatMessage) -> Awaitable[None] | None:
        """Shows a line of the network's chat; it may come from any server, this one included."""

    @abstractmethod
    def run_command(self, command: str) -> Awaitable[str] | str:
        """Runs a console command, which has no slash in front, and answers what it printed.

        Raise where it failed; the caller learns the message.
        """


async def call_game(game: GameServer, method: Callable[[], Awaitable[T] | T]) -> T:
    """Result of a method of the game that runs on its main thread."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Awaitable[T] | T] = loop.create_future()

    def finish(result: Awaitable[T] | T | None, failure: Exception | None) -> None:
        if answer.done():
            return
        if failure is not None:
            answer.set_exception(failure)
        else:
            answer.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result, failure = None, None
        try:
            result = method()
        except Exception as raised:
            failure = raised
        try:
            loop.call_soon_threadsafe(finish, result, failure)
        except RuntimeError:
            pass  # The connector has stopped.

    game.run_on_main_thread(run)
    result = await answer
    if inspect.isawaitable(result):
        return await result
    return result
