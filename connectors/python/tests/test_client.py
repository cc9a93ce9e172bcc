"""All calls, against a real hub."""

from __future__ import annotations

import inspect
import json
import re
import time
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest
from support import HubProcess, free_port

from networkhub import AsyncHubClient, HubClient, HubError, RetryPolicy, ServerState, _json
from networkhub._call import Api, Call, operation
from networkhub.models import (
    BalanceOperation,
    CollectionDefinition,
    CollectionIndex,
    HeartbeatPlayer,
    LogBatchLine,
    PermissionGroupUpdate,
    PermissionNodeInput,
    ServerRegistration,
    WorldReport,
    WorldRequest,
)


@pytest.fixture
def client(hub: HubProcess) -> HubClient:
    return hub.client()


def test_a_server_registers_and_has_players(client: HubClient) -> None:
    player = uuid4()
    arena = WorldReport(
        world_id="arena",
        display_name="Arena",
        current_players=1,
        max_players=8,
        game_state="WAITING",
        players_to_start=2,
        world_type="arena",
    )
    registered = client.servers.register(
        ServerRegistration(server_id="client-1", server_type="client", port=25565, max_players=5),
        ServerState("WAITING", 2, [arena]),
    )
    assert registered.heartbeat_interval_ms > 0
    assert registered.signing_secret
    client.servers.join("client-1", player, "Ann")
    client.servers.change_world("client-1", player, "arena")
    assert client.servers.online_players("client")[0].player_name == "Ann"
    client.servers.heartbeat("client-1", players=[HeartbeatPlayer(uuid=player, name="Ann")])
    server = client.servers.search("client", online=True).items[0]
    assert server.live is not None
    assert server.live.worlds[0].world_id == "arena"
    profile = client.players.get(player)
    assert profile is not None
    assert profile.connection is not None
    assert profile.connection.world_id == "arena"
    assert len(client.matchmaking.regions("client")) == 1
    client.servers.ship_logs("client-1", [LogBatchLine(at=1, stream="stdout", text="hello")])
    client.servers.leave("client-1", player)
    client.servers.unregister("client-1")
    with pytest.raises(HubError) as unknown:
        client.servers.heartbeat("client-1")
    assert unknown.value.code == "unknown_server"


def test_an_error_has_its_code_and_the_requests_id(hub: HubProcess, client: HubClient) -> None:
    with pytest.raises(HubError) as refused:
        client.config.publish("", "x", {})
    assert refused.value.status == 400
    assert refused.value.request_id
    assert not refused.value.is_transient
    with pytest.raises(HubError) as unauthorized:
        HubClient(hub.url, "hub_wrong").permissions.groups()
    assert unauthorized.value.code == "unauthenticated"
    with pytest.raises(ValueError, match="http://"):
        HubClient("hub.example", "key")


def test_an_unreachable_hub_is_transient_and_tried_again() -> None:
    away = HubClient(f"http://127.0.0.1:{free_port()}", "key", retry=RetryPolicy(3, 0.04, 1.0))
    start = time.monotonic()
    with pytest.raises(HubError) as error:
        away.permissions.groups()
    assert error.value.code == "unreachable"
    assert error.value.is_transient
    # Two waits, of half of 40 ms and of 80 ms at least.
    assert time.monotonic() - start >= 0.06


def test_data_is_written_over_what_was_read(client: HubClient) -> None:
    player = uuid4()
    assert client.players.get_data(player, "bedwars", "kit") is None
    first = client.players.put_data(player, "bedwars", "kit", '{"a": 1}')
    assert client.players.put_data(player, "bedwars", "kit", '{"a": 2}', first.version).version == 2
    with pytest.raises(HubError) as stale:
        client.players.put_data(player, "bedwars", "kit", "{}", first.version)
    assert stale.value.code == "version_conflict"
    entry = client.players.get_data(player, "bedwars", "kit")
    assert entry is not None
    assert entry.data == '{"a": 2}'
    assert client.players.delete_data(player, "bedwars", "kit")
    assert not client.players.delete_data(player, "bedwars", "kit")


def test_a_load_makes_a_player_known(client: HubClient) -> None:
    player = uuid4()
    assert client.players.get(player) is None
    assert client.players.load(player, "Ben", game_type="MINECRAFT").username == "Ben"
    client.players.increment(player, "kills", 3)
    assert len(client.players.statistics(player).statistics) == 4
    assert client.economy.statistic_leaderboard("kills", period="DAILY").entries[0].value == 3
    assert client.players.search("be").total == 1


def test_a_load_includes_what_a_join_needs(client: HubClient) -> None:
    player = uuid4()
    client.permissions.add(player, PermissionNodeInput(node="fly", value=True))
    client.players.put_data(player, "global", "kit", "{}")
    client.localization.set_language(player, "de", username="Cat")
    include = ["permissions", "punishments", "language", "balances", "statistics", "data:kit", "data:none"]
    loaded = client.players.load(player, "Cat", include=include)
    assert loaded.permissions is not None
    assert loaded.permissions.permissions["fly"] is True
    assert loaded.language is not None
    assert loaded.language.locale == "de"
    assert loaded.data is not None
    assert loaded.data["kit"] is not None
    assert loaded.data["kit"].version == 1
    assert loaded.data["none"] is None
    assert loaded.punishments == []


def test_money_is_cut_or_refused_whole(client: HubClient) -> None:
    player = uuid4()
    client.economy.modify("player", str(player), "coins", Decimal("899999999999999.9999"), "start")
    assert client.economy.balances("player", str(player))[0].balance == Decimal("899999999999999.9999")
    client.economy.modify("player", str(player), "coins", Decimal("-899999999999969.4999"))
    with pytest.raises(HubError) as poor:
        client.economy.spend(player, "coins", 31, "sword")
    assert poor.value.code == "insufficient_funds"
    spent = client.economy.spend(player, "coins", Decimal("30"), "sword")
    assert (spent.balance, spent.applied) == (Decimal("0.5"), Decimal("-30"))
    cut = client.economy.modify("player", str(player), "coins", -1)
    assert (cut.balance, cut.asked, cut.applied) == (Decimal(0), Decimal(-1), Decimal("-0.5"))
    with pytest.raises(TypeError, match="not float"):
        client.economy.spend(player, "coins", 0.1)  # type: ignore[arg-type]


def test_a_transaction_is_done_whole_or_not_at_all(client: HubClient) -> None:
    rich, poor = uuid4(), uuid4()
    client.economy.modify("player", str(rich), "coins", 10)
    paid = client.economy.pay(rich, poor, "coins", 4, "gift")
    assert [each.balance for each in paid.balances] == [6, 4]
    with pytest.raises(HubError) as error:
        client.economy.transact(
            [
                BalanceOperation(owner_type="player", owner_key=str(rich), currency="coins", amount=-1),
                BalanceOperation(owner_type="player", owner_key=str(poor), currency="coins", amount=-7),
            ]
        )
    assert error.value.code == "insufficient_funds"
    assert error.value.details["operation"] == 1
    assert client.economy.currency_leaderboard("coins").entries[0].value == 6


def test_punishments_come_and_go(client: HubClient) -> None:
    player = uuid4()
    punishments = client.punishments
    mute = punishments.punish(player, "MUTE", "spam", player_name="Dan", duration=timedelta(hours=1), issuer_name="Admin")
    assert mute.active
    assert mute.duration_ms == 3_600_000
    punishments.record_ip(player, "Dan", "203.0.113.9")
    assert client.players.ips(player)[0].ip_address == "203.0.113.9"
    assert punishments.punish_ip("203.0.113.9", "BAN") is not None
    assert punishments.punish_ip("", "BAN") is None
    assert len(punishments.query(player, "203.0.113.9")) == 2
    assert len(punishments.unban_ip("203.0.113.9", actor_name="Admin")) == 1
    assert not punishments.remove(mute.id, actor_name="Admin", reason="sorry").active
    assert punishments.of_player(player) == []
    assert len(punishments.history_of_player(player)) == 1
    punishments.punish_name("Nobody", "BAN", "name")
    assert len(punishments.of_name("nobody")) == 1
    assert len(punishments.unban_name("Nobody", actor_name="Admin")) == 1
    assert len(punishments.history_of_name("NOBODY")) == 1


def test_permissions_are_evaluated(client: HubClient) -> None:
    player = uuid4()
    permissions = client.permissions
    permissions.put_group(
        "vip", PermissionGroupUpdate(display_name="VIP", priority=5, permissions=[PermissionNodeInput(node="Kit.*", value=True)])
    )
    permissions.add(player, PermissionNodeInput(node="group.vip"))
    answer = permissions.effective(player)
    assert answer.permissions is not None
    assert answer.permissions.groups == ["vip"]
    assert answer.permissions.permissions["kit.*"] is True
    assert permissions.effective(player, etag=answer.etag).permissions is None
    permissions.remove(player, PermissionNodeInput(node="group.vip"))
    assert permissions.effective(player, etag=answer.etag).permissions is not None
    assert permissions.of_player(player) == []
    assert permissions.group("vip") is not None
    assert permissions.delete_group("vip")
    assert not permissions.delete_group("vip")
    assert permissions.group("vip") is None


def test_messages(client: HubClient) -> None:
    assert client.localization.register_defaults("shop", "en", {"hello": "Hello"}) == 1
    assert client.localization.catalog(["shop"]).messages["en"]["hello"] == "Hello"
    assert client.localization.locales()[0].is_default
    player = uuid4()
    client.localization.set_language(player, "de", "AUTO", username="Eve")
    assert client.localization.language(player).locale == "de"
    client.localization.set_language(player, None)
    assert client.localization.language(player).locale is None


def test_config_and_collections(client: HubClient) -> None:
    doc = {"rounds": 3, "speed": 0.5, "maps": ["a", None]}
    assert client.config.register("bedwars", "main", doc).doc == doc
    client.config.publish("bedwars", "main", {})
    stored = client.config.get("bedwars", "main")
    assert stored is not None
    assert stored.doc == {}
    assert client.config.get("bedwars", "other") is None

    guilds = client.collections
    registered = guilds.register(
        [CollectionDefinition(name="guilds", key="id", indexes=[CollectionIndex(field="level", type="number")])]
    )
    assert registered[0].indexes[0].field == "level"
    guilds.put("guilds", "red", {"level": 7.5})
    guilds.put("guilds", "a/b ü", {"level": 9})
    assert guilds.get("guilds", "red") == {"level": 7.5}
    assert guilds.top("guilds", "level", limit=1).items[0].id == "a/b ü"
    assert guilds.find_range("guilds", "level", maximum=8).items[0].id == "red"
    assert len(guilds.find_by("guilds", "level", 7.5).items) == 1
    first = guilds.page("guilds", "level", order="asc", limit=1)
    assert guilds.page("guilds", "level", order="asc", limit=1, cursor=first.next_cursor).items[0].id == "a/b ü"
    assert len(guilds.get_all("guilds", ["red", "a/b ü", "none"]).items) == 2
    for odd in (".", "..", "a?b#c", "%2F"):
        guilds.put("guilds", odd, {"level": 1})
        assert guilds.get("guilds", odd) == {"level": 1}
    with pytest.raises(ValueError, match="empty"):
        guilds.get("guilds", "")
    assert guilds.delete("guilds", "red")
    assert not guilds.delete("guilds", "red")
    assert guilds.get("guilds", "red") is None


def test_a_match_tells_why_there_is_none(client: HubClient) -> None:
    none = client.matchmaking.find("nowhere", player=uuid4(), player_name="Fay")
    assert not none.success
    assert none.result == "NO_SERVERS_AVAILABLE"
    assert client.matchmaking.find(server_id="nowhere", player=uuid4()).result == "SERVER_NOT_FOUND"


def test_a_party_is_matched_whole_or_not_at_all(client: HubClient) -> None:
    client.servers.register(ServerRegistration(server_id="party-1", server_type="party", port=1, max_players=2))
    find = client.matchmaking.find
    assert find("party", player=uuid4(), party=[uuid4(), uuid4()]).result == "ALL_SERVERS_FULL"
    assert find("party", player=uuid4(), party=[uuid4()]).success


def test_a_world_is_opened_and_run_by_its_node(client: HubClient) -> None:
    request = WorldRequest(game_id="islands", owner_scope="player", owner_id=str(uuid4()))
    assert not client.worlds.open(request).success
    client.servers.register(ServerRegistration(server_id="node-1", server_type="islands", port=1))
    assert client.worlds.release_all("node-1") == 0
    opened = client.worlds.open(request)
    assert opened.status == "LOADING"
    assert opened.world_instance_id is not None
    world = int(opened.world_instance_id)
    with pytest.raises(HubError) as stale:
        client.worlds.ready(world, "node-1", 99)
    assert stale.value.code == "stale_fence"
    assert client.worlds.ready(world, "node-1", 1).state == "READY"
    assert client.worlds.heartbeat(world, "node-1", 1, 2).player_count == 2
    assert client.worlds.upload_url(world).blob_key
    assert client.worlds.snapshot(opened.world_instance_id, "test").state == "READY"
    assert client.worlds.release(opened.world_instance_id).state == "DRAINING"
    assert client.worlds.unloaded(world, "node-1", 1).state == "UNLOADED"


def test_a_join_under_one_key_counts_once(client: HubClient) -> None:
    client.servers.register(ServerRegistration(server_id="keyed-1", server_type="keyed", port=1))
    player = uuid4()
    client.servers.join("keyed-1", player, "Kim", idempotency_key="join-1")
    client.servers.leave("keyed-1", player)
    client.servers.join("keyed-1", player, "Kim", idempotency_key="join-1")
    profile = client.players.get(player)
    assert profile is not None
    assert not profile.online


def test_calls_that_are_newer_than_the_library(client: HubClient) -> None:
    assert client.version().component == "hub"
    page = client.call("GET", "/api/manage/keys?limit=1")
    assert page["limit"] == 1
    assert client.call("POST", "/api/manage/signing-secret/rotate", {"overlapMs": 1})["signingSecret"]


async def test_the_client_for_asyncio_makes_the_same_calls(owner: AsyncHubClient) -> None:
    player = uuid4()
    assert await owner.players.get(player) is None
    await owner.economy.modify("player", str(player), "gems", Decimal("1.5"))
    assert (await owner.economy.balances("player", str(player)))[0].balance == Decimal("1.5")
    with pytest.raises(HubError) as poor:
        await owner.economy.spend(player, "gems", 2)
    assert poor.value.code == "insufficient_funds"
    entry = await owner.players.put_data(player, "global", "kit", json.dumps({"a": 1}), 0)
    assert entry.version == 1
    assert (await owner.version()).component == "hub"


async def test_every_call_is_in_the_document(owner: AsyncHubClient) -> None:
    """A call that the hub does not know, or a parameter or field that it would ignore, is a slip of this library."""
    document = await owner.call("GET", "/api/openapi.json")
    areas = [value for value in vars(owner).values() if isinstance(value, Api)]
    described = [(area, name) for area in areas for name, each in vars(type(area)).items() if isinstance(each, operation)]
    assert len(described) > 60
    for area, name in described:
        call = _describe(area, name)
        matches = [methods for path, methods in document["paths"].items() if _fits(path, call)]
        assert len(matches) == 1, f"{call.method} {call.target}"
        details = matches[0][call.method.lower()]
        unknown = set(call.query) - {parameter["name"] for parameter in details.get("parameters", [])}
        assert not unknown, f"{call.method} {call.target}"
        if isinstance(call.body, dict):
            schema = details["requestBody"]["content"]["application/json"]["schema"]
            unknown = set(call.body) - _fields(document, schema)
            assert not unknown, f"{call.method} {call.target}"


def _describe(area: object, name: str) -> Call[object]:
    """The call with made-up arguments, all of them given."""
    describe = vars(type(area))[name]._describe
    call: Call[object] = describe(area, **_samples(describe))
    body = _json.parse(_json.write(call.body))
    return replace(call, body=None if name in ("put", "publish") else body)


def _samples(described: Callable[..., object]) -> dict[str, object]:
    hints = typing.get_type_hints(described)
    return {name: _sample(hints[name]) for name in inspect.signature(described).parameters if name in hints}


def _sample(kind: object) -> object:
    samples: dict[object, object] = {str: "x", int: 1, float: 1.5, bool: True, UUID: uuid4(), timedelta: timedelta(1)}
    if kind in samples:
        return samples[kind]
    if isinstance(kind, type) and is_dataclass(kind):
        return kind(**{name: _sample(hint) for name, hint in typing.get_type_hints(kind).items()})
    if kind is Decimal or kind is typing.Any:
        return Decimal(1)
    arguments = [each for each in typing.get_args(kind) if each is not type(None)]
    origin = typing.get_origin(kind)
    if origin is typing.Literal:
        return arguments[0]
    if origin in (types.UnionType, typing.Union):
        return _sample(arguments[0])
    if origin is not None and issubclass(origin, Mapping):
        return {}
    return [_sample(arguments[0])]


def _fits(template: str, call: Call[object]) -> bool:
    """True if a path of the document matches the call's, whose generated identifiers are short or UUIDs."""
    return re.fullmatch(re.sub(r"\\\{\w+\\\}", "(x|1|player|[0-9a-f-]{36})", re.escape(template)), call.path) is not None


def _fields(document: dict[str, Any], schema: dict[str, Any]) -> set[str]:
    if "$ref" in schema:
        return _fields(document, document["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    parts = schema.get("allOf", [])
    return set(schema.get("properties", {})).union(*(_fields(document, part) for part in parts))
