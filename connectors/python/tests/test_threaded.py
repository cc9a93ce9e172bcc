"""A connector in a thread of its own, against a real hub."""

from __future__ import annotations

import itertools
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from uuid import UUID, uuid4

import pytest
from inventories import Inventories
from support import FakeGame, HubProcess, soon

from networkhub import ConnectorOptions, HubClient, HubError, HubEvent, ServerState, ThreadedHubConnector
from networkhub.models import PermissionNodeInput, ServerRegistration, WorldBootOrder, WorldRequest

Start = Callable[..., ThreadedHubConnector]
numbers = itertools.count()


class GameWithThread(FakeGame):
    """A game with a main thread of its own."""

    def __init__(self) -> None:
        super().__init__()
        self._tasks: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self.main_thread = threading.Thread(target=self._run, daemon=True)
        self.main_thread.start()

    def _run(self) -> None:
        while True:
            self._tasks.get()()

    def run_on_main_thread(self, task: Callable[[], None]) -> None:
        self._tasks.put(task)


@pytest.fixture
def client(hub: HubProcess) -> Iterator[HubClient]:
    with hub.client() as client:
        yield client


@pytest.fixture
def start(hub: HubProcess) -> Iterator[Start]:
    """Starts connectors that are stopped after the test."""
    with ExitStack() as started:

        def start(type: str, game: FakeGame, options: ConnectorOptions | None = None) -> ThreadedHubConnector:
            info = ServerRegistration(
                server_id=f"{type}-{next(numbers)}", server_type=type, port=25565, host="10.0.0.1", max_players=10
            )
            client = started.enter_context(hub.client())
            patient = replace(options or ConnectorOptions(), join_timeout=60.0)
            connector = started.enter_context(ThreadedHubConnector(client, info, game, patient))
            connector.wait_until_connected(60)
            return connector

        yield start


def where(client: HubClient, player: UUID) -> str | None:
    profile = client.players.get(player)
    return None if profile is None or profile.connection is None else profile.connection.server_id


def game_state(client: HubClient, server_type: str) -> str | None:
    live = client.servers.search(server_type, online=True).items[0].live
    return None if live is None else live.game_state


def test_players_join_are_sent_and_leave(start: Start, client: HubClient) -> None:
    game = GameWithThread()
    lobby, arena = start("t-lobby", game), start("t-arena", GameWithThread())
    player = uuid4()
    assert lobby.check_join(player, "Ann", "203.0.113.1").result(60).allowed
    lobby.player_joined(player, "Ann")
    soon("the player is here", lambda: where(client, player) == lobby.info.server_id)
    lobby.player_changed_world(player, "nether")
    lobby.set_state(ServerState("PLAYING"))
    assert lobby.transfer(player, arena.info.server_id).result(60).success
    soon("the command is carried out", lambda: len(game.transfers) == 1)
    assert game.threads == [game.main_thread]
    assert arena.transfer_verifier.refusal(game.transfers[0], arena.hub_time()) is None
    lobby.player_left(player)
    arena.player_joined(player, "Ann")
    soon("the player has moved", lambda: where(client, player) == arena.info.server_id)
    soon("the state is known", lambda: game_state(client, "t-lobby") == "PLAYING")
    lobby.stop()
    assert client.servers.search("t-lobby", online=True).total == 0
    stopped = lobby.send_chat(player, "Ann", "hello").exception(1)
    assert isinstance(stopped, HubError)
    assert stopped.code == "stopped"
    lobby.player_joined(player, "Ann")
    lobby.stop()


def test_caches_answer_in_any_thread(start: Start, client: HubClient) -> None:
    player = uuid4()
    client.permissions.add(player, PermissionNodeInput(node="fly"))
    messages = {"en": {"hello": "Hello"}, "de": {"hello": "Hallo"}}
    connector = start("t-caches", GameWithThread(), ConnectorOptions(namespace="t", messages=messages))
    assert connector.check_join(player, "Ben").result(60).allowed
    connector.player_joined(player, "Ben")
    assert connector.permissions.has(player, "fly")
    assert not connector.punishments.is_muted(player)
    connector.set_language(player, "de").result(60)
    soon("the text is in the player's language", lambda: connector.localization.text(player, "hello") == "Hallo")
    client.punishments.punish(player, "MUTE", "spam")
    soon("the mute is known", lambda: connector.punishments.is_muted(player))
    seen: queue.SimpleQueue[object] = queue.SimpleQueue()
    config = connector.config("t", "main", {"rounds": 3}).on_change(seen.put)
    soon("the default is stored", lambda: client.config.get("t", "main") is not None)
    client.config.publish("t", "main", {"rounds": 5})
    assert seen.get(timeout=60) == {"rounds": 5}
    assert config.doc == {"rounds": 5}


def test_commands_chat_and_worlds(start: Start, client: HubClient) -> None:
    game = GameWithThread()
    node = start("t-isles", game)
    path = f"/api/manage/servers/{node.info.server_id}/command"
    assert client.call("POST", path, {"command": "hi"})["output"] == "ran hi"
    player = uuid4()
    assert node.check_join(player, "Cat").result(60).allowed
    node.send_chat(player, "Cat", "hello").result(60)
    soon("the line came back", lambda: [line.message for line in game.chat] == ["hello"])

    def boot(event: HubEvent) -> None:
        command = event.read(WorldBootOrder)
        ready = (command.world_id, node.info.server_id, command.fence)
        threading.Thread(target=client.worlds.ready, args=ready, daemon=True).start()

    node.on("WORLD_OPEN", boot)
    world = node.open_world(WorldRequest(game_id="t-isles", owner_scope="player", owner_id=str(player))).result(60)
    assert world.matched_server is not None


def test_nothing_is_lost_when_the_hub_is_killed() -> None:
    hub = HubProcess()
    game = GameWithThread()
    player, banned = uuid4(), uuid4()
    options = ConnectorOptions(join_timeout=15.0)
    with (
        hub.client() as client,
        ThreadedHubConnector(client, ServerRegistration(server_id="a", server_type="a", port=1), game, options) as connector,
    ):
        connector.wait_until_connected(60)
        client.punishments.punish(banned, "BAN", "cheating")
        soon("the ban is known", lambda: len(connector.punishments.all()) == 1)
        hub.kill()
        soon("the outage is noticed", lambda: not connector.status.stream_open)
        begin = time.monotonic()
        connector.player_joined(player, "Ann")
        joining = [connector.check_join(each, "Name") for each in (banned, uuid4())]
        assert time.monotonic() - begin < 10, "no call waits for the hub"
        assert [each.result(60).reason for each in joining] == ["BANNED", "NOT_VERIFIED"]
        soon("the join waits", lambda: connector.status.pending_changes == 1)
        with pytest.raises(TimeoutError):
            connector.wait_until_connected(0.1)
        hub.start()
        soon("the join was told", lambda: where(client, player) == "a")
        connector.wait_until_connected(60)
    hub.close()


def test_stopping_waits_for_what_is_to_be_told(start: Start, client: HubClient) -> None:
    connector = start("t-stop", GameWithThread())
    players = [uuid4() for _ in range(20)]
    for player in players:
        connector.player_joined(player, "Many")
    connector.stop()
    assert all(client.players.get(player) is not None for player in players)
    assert threading.active_count() < 50


def test_data_moves_with_players_of_games_with_threads(start: Start, client: HubClient) -> None:
    player, games, hands = uuid4(), [GameWithThread(), GameWithThread()], [Inventories(), Inventories()]
    servers = [
        start("t-data", game, ConnectorOptions(player_data=hand, player_namespaces=["inventory"]))
        for game, hand in zip(games, hands, strict=True)
    ]
    for step in range(10):
        here, hand = servers[step % 2], hands[step % 2]
        here.player_joined(player, "Ann")
        soon("the data is applied", lambda here=here: here.player_data.is_open(player))  # type: ignore[misc]
        assert hand.held[player] == ({"stone": step} if step else {})
        hand.give(player, "stone")
        if step % 3 == 0:
            here.save_player(player).result(60)
        here.player_left(player)
        del hand.held[player]
    servers[1].stop()
    stored = client.players.get_data(player, "global", "inventory")
    assert stored is not None
    assert stored.data == '{"stone": 10}'
    assert hands[0].endings == hands[1].endings == []
