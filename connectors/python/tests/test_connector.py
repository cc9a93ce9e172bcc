"""A connector on asyncio, against a real hub."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from uuid import UUID, uuid4

import pytest
from support import FakeGame, HubProcess, eventually, transfer_record, where

from networkhub import AsyncHubClient, ConnectorOptions, GameServer, HubConnector, HubError, HubEvent, ServerState
from networkhub.connector.transfers import sign, signed_text
from networkhub.models import (
    ChatMessage,
    PermissionGroupUpdate,
    PermissionNodeInput,
    Punishment,
    ServerRegistration,
    SignedTransferCommand,
    WorldBootOrder,
    WorldRequest,
)

Start = Callable[..., Awaitable[HubConnector]]
numbers = itertools.count()


@pytest.fixture
async def start(hub: HubProcess, owner: AsyncHubClient) -> AsyncIterator[Start]:
    """Starts connectors that are stopped after the test."""
    async with AsyncExitStack() as started:

        async def start(type: str, game: GameServer, options: ConnectorOptions | None = None) -> HubConnector:
            info = ServerRegistration(
                server_id=f"{type}-{next(numbers)}", server_type=type, port=25565, host="10.0.0.1", max_players=10
            )
            client = await started.enter_async_context(hub.async_client())
            patient = replace(options or ConnectorOptions(), join_timeout=60.0)
            connector = await started.enter_async_context(HubConnector(client, info, game, patient))
            await asyncio.wait_for(connector.wait_until_connected(), 60)
            return connector

        yield start


async def join(connector: HubConnector, player: UUID, name: str) -> None:
    assert (await connector.check_join(player, name)).allowed
    connector.player_joined(player, name)
    await eventually("the player is online", lambda: _is_on(connector, player))


async def _is_on(connector: HubConnector, player: UUID) -> bool:
    return await where(connector.client, player) == connector.info.server_id


async def test_a_server_is_online_with_its_state_and_players(start: Start, owner: AsyncHubClient, game: FakeGame) -> None:
    connector = await start("state", game)
    player = uuid4()
    await join(connector, player, "Ann")
    connector.set_state(ServerState("PLAYING", 4, []))

    async def is_playing() -> bool:
        live = (await owner.servers.search("state", online=True)).items[0].live
        return live is not None and live.game_state == "PLAYING"

    await eventually("the state is known", is_playing)
    assert (await owner.servers.search("state", online=True)).items[0].connectivity == "CONNECTED"
    connector.player_left(player)

    async def has_left() -> bool:
        return await where(owner, player) is None

    await eventually("the player has left", has_left)
    await connector.stop()
    assert (await owner.servers.search("state", online=True)).total == 0


async def test_a_player_is_found_a_place_and_sent_there(start: Start, owner: AsyncHubClient, game: FakeGame) -> None:
    player = uuid4()
    lobby, target = await start("lobby", game), await start("arena", FakeGame())
    await join(lobby, player, "Ben")
    match = await lobby.client.matchmaking.find("arena", player=player, player_name="Ben")
    assert match.matched_server is not None
    outcome = await lobby.transfer(player, match.matched_server.server_id)
    assert outcome.success
    assert outcome.transfer_id == match.transfer_id
    await eventually("the command was carried out", lambda: len(game.transfers) == 1)
    assert game.transfers[0].host == "10.0.0.1"
    lobby.player_left(player)
    target.player_joined(player, "Ben")

    async def has_ended() -> bool:
        return (await transfer_record(owner, outcome.transfer_id))[0] == "SUCCESS"

    await eventually("the transfer has ended", has_ended)
    assert await where(owner, player) == target.info.server_id
    # Handed on, it is good once: this verifier has not used it, another time it has.
    assert target.transfer_verifier.refusal(game.transfers[0], target.hub_time()) is None
    used = target.transfer_verifier.refusal(game.transfers[0], target.hub_time())
    assert used == "the command was used already"


async def test_a_transfer_that_cannot_be_is_reported(start: Start, owner: AsyncHubClient, game: FakeGame) -> None:
    lobby, target = await start("from", game), await start("to", FakeGame())
    player = uuid4()
    await join(lobby, player, "Cat")
    game.refuses_transfers = True
    outcome = await target.transfer(player, target.info.server_id)

    async def is_reported() -> bool:
        return await transfer_record(owner, outcome.transfer_id) == ("FAILED", "the player is in a cutscene")

    await eventually("the failure is reported", is_reported)


async def test_signatures_are_good_while_the_secret_is_rotated(start: Start, owner: AsyncHubClient, game: FakeGame) -> None:
    source, target = await start("rotate-from", game), await start("rotate-to", FakeGame())
    player = uuid4()
    rotated: list[str | None] = []
    source.on("SIGNING_SECRET_ROTATED", lambda event: rotated.append(event.text("signingSecret")))
    await join(source, player, "Dan")
    await owner.call("POST", "/api/manage/signing-secret/rotate", {"overlapMs": 60_000})
    await source.transfer(player, target.info.server_id)
    await eventually("a command with two signatures is carried out", lambda: len(game.transfers) == 1)
    assert len(game.transfers[0].signature.split(" ")) == 2
    await eventually("the new secret is known", lambda: len(rotated) == 1)
    # Signed with the new secret alone: whoever kept the old one would refuse it.
    await owner.call("POST", "/api/manage/signing-secret/rotate", {"overlapMs": 0})
    await eventually("the newest secret is known", lambda: len(rotated) == 2)
    await source.transfer(player, target.info.server_id)
    await eventually("a command with the new signature is carried out", lambda: len(game.transfers) == 2)
    assert game.transfers[1].signature == sign(rotated[1] or "", signed_text(game.transfers[1]))


async def test_a_console_command_is_run_and_answered(start: Start, owner: AsyncHubClient, game: FakeGame) -> None:
    connector = await start("console", game)
    path = f"/api/manage/servers/{connector.info.server_id}/command"
    ran = await owner.call("POST", path, {"command": "say hi"})
    assert (ran["success"], ran["output"]) == (True, "ran say hi")
    assert (await owner.call("POST", path, {"command": "fail"}))["error"] == "no such command"
    assert connector.status.is_connected


class BusyGame(FakeGame):
    """Its main thread gets to nothing until it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[Callable[[], None]] = []
        self.is_busy = True

    def run_on_main_thread(self, task: Callable[[], None]) -> None:
        if self.is_busy:
            self.waiting.append(task)
        else:
            task()

    def resume(self) -> None:
        self.is_busy = False
        for task in self.waiting:
            task()


async def test_a_command_that_the_main_thread_cannot_get_to_is_never_run_late(start: Start, owner: AsyncHubClient) -> None:
    game = BusyGame()
    connector = await start("busy", game)
    path = f"/api/manage/servers/{connector.info.server_id}/command"

    async def was_not_run() -> bool:
        try:
            answer = await owner.call("POST", path, {"command": "late", "timeoutMs": 1_000})
        except HubError as error:
            if error.status != 503:
                raise
            # On a loaded machine its answer may come too late for the hub, which says so.
            return False
        assert answer["error"] == "The server's main thread did not get to it in time; it was not run."
        return True

    await eventually("the connector says that it was not run", was_not_run)
    game.resume()
    assert (await owner.call("POST", path, {"command": "next"}))["output"] == "ran next"
    assert game.commands == ["next"]


class AsyncGame(FakeGame):
    """A game whose methods are coroutine functions."""

    async def transfer_player(self, player: UUID, command: SignedTransferCommand) -> None:  # type: ignore[override]
        await asyncio.sleep(0.01)
        raise RuntimeError("the door is locked")

    async def kick_player(self, player: UUID, reason: Punishment) -> None:  # type: ignore[override]
        await asyncio.sleep(0.01)
        self.kicked.append(player)

    async def show_chat(self, message: ChatMessage) -> None:  # type: ignore[override]
        await asyncio.sleep(0.01)
        self.chat.append(message)

    async def run_command(self, command: str) -> str:  # type: ignore[override]
        await asyncio.sleep(0.01)
        return "awaited " + command


async def test_a_game_may_be_asynchronous(start: Start, owner: AsyncHubClient) -> None:
    game = AsyncGame()
    connector = await start("async", game)
    player = uuid4()
    await join(connector, player, "Lea")
    path = f"/api/manage/servers/{connector.info.server_id}/command"
    assert (await owner.call("POST", path, {"command": "x"}))["output"] == "awaited x"
    other = await start("async-to", FakeGame())
    outcome = await connector.transfer(player, other.info.server_id)

    async def is_reported() -> bool:
        return await transfer_record(owner, outcome.transfer_id) == ("FAILED", "the door is locked")

    await eventually("the failure is reported", is_reported)
    await owner.punishments.punish(player, "KICK", "rude")
    await eventually("the player was kicked", lambda: game.kicked == [player])


async def test_chat_is_shown_and_muted_players_are_held_back(start: Start, owner: AsyncHubClient, game: FakeGame) -> None:
    connector = await start("chat", game)
    player = uuid4()
    await join(connector, player, "Eve")
    await connector.send_chat(player, "Eve", "hello")
    await eventually("the line came back", lambda: [line.message for line in game.chat] == ["hello"])
    mute = await owner.punishments.punish(player, "MUTE", "spam", player_name="Eve")
    await eventually("the mute is known", lambda: connector.punishments.is_muted(player))
    with pytest.raises(HubError) as refused:
        await connector.send_chat(player, "Eve", "again")
    assert refused.value.code == "muted"
    # An edit does not lift it.
    await owner.call("PATCH", f"/api/manage/punishments/{mute.id}", {"reason": "spam, again"})
    await eventually("the edit is known", lambda: reason_of(connector.punishments.mute(player)) == "spam, again")
    await owner.punishments.remove(mute.id)
    await eventually("the mute is over", lambda: not connector.punishments.is_muted(player))
    await connector.send_chat(player, "Eve", "thanks")


def reason_of(punishment: Punishment | None) -> str | None:
    return None if punishment is None else punishment.reason


async def test_a_banned_player_is_removed_and_kept_out(start: Start, owner: AsyncHubClient, game: FakeGame) -> None:
    connector = await start("ban", game)
    player, other = uuid4(), uuid4()
    await join(connector, player, "Fay")
    await owner.punishments.punish(player, "BAN", "cheating", player_name="Fay")
    await eventually("the player was kicked", lambda: player in game.kicked)
    decision = await connector.check_join(player, "Fay", "203.0.113.7")
    assert decision.reason == "BANNED"
    assert decision.ban is not None
    assert decision.ban.reason == "cheating"
    # A ban of an address concerns another player with it.
    await owner.punishments.punish_ip("203.0.113.8", "BAN", "proxy")
    assert (await connector.check_join(other, "Gil", "203.0.113.9")).allowed
    assert not (await connector.check_join(other, "Gil", "203.0.113.8")).allowed


async def test_player_banned_between_check_and_join_is_removed(start: Start, owner: AsyncHubClient, game: FakeGame) -> None:
    connector = await start("late-ban", game)
    player = uuid4()
    assert (await connector.check_join(player, "Ned")).allowed
    await owner.punishments.punish(player, "BAN", "cheating")
    await eventually("the ban is known", lambda: connector.punishments.ban(player) is not None)
    assert game.kicked == []
    connector.player_joined(player, "Ned")
    await eventually("the player was kicked", lambda: game.kicked == [player])


async def test_permissions_answer_from_memory_and_are_read_anew(start: Start, owner: AsyncHubClient, game: FakeGame) -> None:
    player = uuid4()
    await owner.permissions.put_group(
        "builder", PermissionGroupUpdate(priority=1, permissions=[PermissionNodeInput(node="build.*")])
    )
    await owner.permissions.add(player, PermissionNodeInput(node="group.builder"))
    connector = await start("permissions", game)
    await join(connector, player, "Hal")
    assert connector.permissions.has(player, "build.house")
    known = connector.permissions.get(player)
    assert known is not None
    assert known.groups == ["builder"]
    await owner.permissions.add(player, PermissionNodeInput(node="fly"))
    await eventually("the player may fly", lambda: connector.permissions.has(player, "fly"))
    await owner.permissions.delete_group("builder")
    await eventually("the group is gone", lambda: not connector.permissions.has(player, "build.house"))


async def test_permissions_that_end_by_themselves_are_read_anew(start: Start, owner: AsyncHubClient, game: FakeGame) -> None:
    connector = await start("expiring", game)
    player = uuid4()
    await owner.permissions.add(player, PermissionNodeInput(node="fly", expires_at=connector.hub_time() + 2_000))
    await join(connector, player, "Max")
    assert connector.permissions.has(player, "fly")
    await eventually("the permission has ended", lambda: not connector.permissions.has(player, "fly"))


async def test_permissions_of_a_place_are_asked_for_there(start: Start, owner: AsyncHubClient, game: FakeGame) -> None:
    player = uuid4()
    await owner.permissions.add(player, PermissionNodeInput(node="sit", context="server=lounge"))
    lounge = await start("lounge", game, ConnectorOptions(permission_context="server=lounge"))
    elsewhere = await start("elsewhere", FakeGame())
    for connector in (elsewhere, lounge):
        await join(connector, player, "Pia")
    assert lounge.permissions.has(player, "sit")
    assert not elsewhere.permissions.has(player, "sit")


async def test_messages_are_in_the_players_language_and_follow_the_operator(
    start: Start, owner: AsyncHubClient, game: FakeGame
) -> None:
    messages = {"en": {"welcome": "Welcome", "bye": "Bye"}, "de": {"welcome": "Willkommen"}}
    connector = await start("messages", game, ConnectorOptions(namespace="game", messages=messages))
    localization = connector.localization
    player = uuid4()
    assert localization.text("fr", "welcome") == "Welcome"
    await join(connector, player, "Ida")
    await localization.set_language(player, "de")
    await eventually("the catalog is read", lambda: localization.catalog is not None and "de" in localization.catalog.messages)
    assert localization.text(player, "welcome") == "Willkommen"
    assert localization.text(player, "bye") == "Bye"
    assert localization.text(player, "none") == "none"
    await owner.call("PUT", "/api/manage/localization/messages/de/game/welcome", {"value": "Servus"})
    await eventually("the edit is known", lambda: localization.text(player, "welcome") == "Servus")


async def test_config_is_kept_current(start: Start, owner: AsyncHubClient, game: FakeGame) -> None:
    connector = await start("config", game)
    seen: list[object] = []
    config = connector.config("arena", "main", {"rounds": 3}).on_change(seen.append)
    assert config.doc == {"rounds": 3}

    async def is_stored() -> bool:
        return await owner.config.get("arena", "main") is not None

    await eventually("the default is stored", is_stored)
    await owner.config.publish("arena", "main", {"rounds": 5})
    await eventually("the change is known", lambda: seen == [{"rounds": 5}])
    assert config.doc == {"rounds": 5}


async def test_a_world_is_waited_for_until_it_is_up(start: Start, game: FakeGame) -> None:
    node = await start("isles", game)

    async def boot(event: HubEvent) -> None:
        command = event.read(WorldBootOrder)
        await node.client.worlds.ready(command.world_id, node.info.server_id, command.fence)

    node.on("WORLD_OPEN", boot)
    world = await node.open_world(WorldRequest(game_id="isles", owner_scope="player", owner_id=str(uuid4())))
    assert world.success
    assert world.matched_server is not None
    assert world.matched_server.server_id == node.info.server_id


async def test_joins_and_leaves_are_events(start: Start, game: FakeGame) -> None:
    watcher = await start("watch", game, ConnectorOptions(events=["PLAYER_JOINED", "PLAYER_LEFT"]))
    player = uuid4()
    seen: list[tuple[str, str | None]] = []
    watcher.on("PLAYER_JOINED", lambda event: 1 / 0)  # A listener that fails harms nobody.
    for name in ("PLAYER_JOINED", "PLAYER_LEFT"):
        watcher.on(name, lambda event: seen.append((event.type, event.text("playerUuid"))))
    watcher.player_joined(player, "Jo")
    watcher.player_left(player)
    await eventually("both are told", lambda: seen == [("PLAYER_JOINED", str(player)), ("PLAYER_LEFT", str(player))])


async def test_a_change_that_cannot_be_told_does_not_hold_up_others(start: Start, owner: AsyncHubClient, game: FakeGame) -> None:
    connector = await start("odd", game)
    player = uuid4()
    connector.player_joined(uuid4(), object())  # type: ignore[arg-type]
    connector.player_joined(uuid4(), "\n" * 5)
    connector.player_joined(player, "Ola")
    await eventually("the next one is told", lambda: _is_on(connector, player))


async def test_a_server_with_a_wrong_key_says_so(hub: HubProcess, game: FakeGame) -> None:
    async with AsyncHubClient(hub.url, "hub_wrong") as client:
        connector = HubConnector(client, ServerRegistration(server_id="wrong", server_type="wrong", port=1), game)
        connector.start()
        await eventually("the status tells", lambda: connector.status.last_error is not None)
        assert not connector.status.is_connected
        assert not (await connector.check_join(uuid4(), "Kim")).allowed
        await connector.stop()
