"""The parts that need no hub."""

from __future__ import annotations

import time
from dataclasses import replace
from decimal import Decimal
from uuid import UUID, uuid4

import pytest

from networkhub import AsyncHubClient, PermissionCache, PunishmentCache, RetryPolicy, TransferVerifier, _json
from networkhub.connector.clock import HubClock, local_ms
from networkhub.connector.outbox import ChangeKind, PlayerChange, PlayerOutbox
from networkhub.connector.transfers import sign, signed_text
from networkhub.events import Frame, SseParser
from networkhub.models import (
    BalanceOperation,
    CurrencyBalance,
    EffectivePermissions,
    LiveServer,
    LoadedPlayer,
    PermissionNodeInput,
    Punishment,
    PunishmentKind,
    SignedTransferCommand,
)

ANN, BEN = uuid4(), uuid4()


# JSON


def test_models_keep_every_digit_and_ignore_what_they_do_not_know() -> None:
    balance = _json.read(
        CurrencyBalance, _json.parse('{"newField":[1,{}],"currencyName":"coins","balance":899999999999999.9999}')
    )
    assert balance == CurrencyBalance(currency_name="coins", balance=Decimal("899999999999999.9999"))
    operation = BalanceOperation(owner_type="player", owner_key="x", currency="coins", amount=Decimal("-1E+1"))
    assert _json.write(operation) == '{"amount":-10,"currency":"coins","ownerKey":"x","ownerType":"player"}'
    assert _json.write({"a": [Decimal("0.10"), None, True, "ü"]}) == '{"a":[0.10,null,true,"\\u00fc"]}'
    with pytest.raises(ValueError, match="NaN"):
        _json.write(Decimal("NaN"))


def test_absent_fields_are_empty_and_wrong_ones_are_refused() -> None:
    texts = {"serverId": "a", "serverType": "b", "host": "h", "region": "UNKNOWN", "playerCountDisplay": "0"}
    server = _json.read(LiveServer, texts | {"gameState": None})
    assert server.worlds == []
    assert server.game_state is None
    data = {"a": None, "b": {"data": "{}", "version": 1}}
    profile = {"uuid": str(ANN), "firstSeen": 1, "lastSeen": 2, "region": "UNKNOWN", "data": data}
    read = _json.read(LoadedPlayer, profile)
    assert read.uuid == ANN
    assert read.data is not None
    assert read.data["a"] is None
    wrongs: list[object] = [{}, [], {"uuid": 5}, {"uuid": "x"}, profile | {"firstSeen": "1"}, profile | {"data": []}]
    for wrong in wrongs:
        with pytest.raises(ValueError, match=r"is no|is missing|badly formed"):
            _json.read(LoadedPlayer, wrong)


def test_a_literal_of_a_newer_hub_is_a_text() -> None:
    kind = {"id": 1, "type": "OF_A_NEWER_HUB", "issuedAt": 0}
    assert str(_json.read(Punishment, kind).type) == "OF_A_NEWER_HUB"


def test_fields_that_are_none_are_left_out() -> None:
    assert _json.write(PermissionNodeInput(node="fly", expires_at=5)) == '{"expiresAt":5,"node":"fly"}'


# Events

STREAM = (
    ': open\nretry: 2500\nid: e-1\n\nevent: CHAT\nid: e-2\ndata: {"message":"grüß\ndata: dich"}\n\n'
    "event: PING\r\ndata: {}\r\n\r\nid: e-3\r\rdata:x\r\n\nunfinished"
).encode()


def test_frames_are_the_same_however_the_bytes_are_cut() -> None:
    for size in range(1, len(STREAM) + 1):
        parser = SseParser()
        frames = [frame for start in range(0, len(STREAM), size) for frame in parser.feed(STREAM[start : start + size])]
        assert frames == [
            Frame(None, None, "e-1"),
            Frame("CHAT", '{"message":"grüß\ndich"}', "e-2"),
            Frame("PING", "{}", "e-2"),
            Frame(None, None, "e-3"),
            Frame(None, "x", "e-3"),
        ], size
        assert parser.retry == 2.5


# Delays


def test_delays_grow_are_random_and_bounded() -> None:
    policy = RetryPolicy(4, 0.2, 1.0)
    for failures, most in ((1, 0.2), (2, 0.4), (3, 0.8), (4, 1.0), (1000, 1.0)):
        delays = [policy.delay(failures) for _ in range(100)]
        assert most / 2 <= min(delays) < max(delays) <= most
    with pytest.raises(ValueError, match="one attempt"):
        RetryPolicy(0)


def test_the_least_delayed_ping_tells_the_time() -> None:
    clock = HubClock()
    clock.ping(local_ms() + 60_000)
    clock.ping(local_ms() + 50_000)
    assert 59_000 < clock.now() - local_ms() < 61_000
    for _ in range(4):
        clock.ping(local_ms() + 50_000)
    assert clock.now() - local_ms() < 51_000


# The outbox


def joined(player: UUID) -> PlayerChange:
    return PlayerChange(ChangeKind.JOIN, player, "Name")


def left(player: UUID) -> PlayerChange:
    return PlayerChange(ChangeKind.LEAVE, player)


def went(player: UUID, world: str) -> PlayerChange:
    return PlayerChange(ChangeKind.WORLD, player, world=world)


def filled(*changes: PlayerChange, capacity: int = 10) -> PlayerOutbox:
    outbox = PlayerOutbox(capacity)
    for change in changes:
        outbox.add(change)
    return outbox


def test_changes_stay_in_order_until_they_are_removed() -> None:
    join, leave, other = joined(ANN), left(ANN), joined(BEN)
    outbox = filled(join, other, leave)
    assert outbox.peek() is join
    assert outbox.end_of(join) is leave
    outbox.remove(join)
    assert outbox.peek() is other
    assert outbox.end_of(other) is None
    assert outbox.concerns(ANN)


def test_a_visit_is_removed_with_its_worlds() -> None:
    join, leave, again, other = joined(ANN), left(ANN), joined(ANN), joined(BEN)
    outbox = filled(join, went(ANN, "nether"), other, leave, again)
    outbox.remove_visit(join, leave)
    assert len(outbox) == 2
    outbox.remove(other)
    assert outbox.peek() is again


def test_only_the_last_of_several_worlds_is_kept() -> None:
    join = joined(ANN)
    outbox = filled(join, went(ANN, "a"), went(ANN, "b"))
    outbox.remove(join)
    assert len(outbox) == 1
    assert outbox.peek().world == "b"


def test_beyond_its_capacity_finished_visits_are_dropped() -> None:
    first = joined(BEN)
    outbox = filled(first, joined(ANN), left(ANN), joined(ANN), capacity=4)
    assert outbox.add(left(BEN)) == 2
    assert outbox.peek() is first
    assert len(outbox) == 3


# Transfers

COMMAND = SignedTransferCommand(
    transfer_id=UUID(int=2),
    player_uuid=ANN,
    target_server_id="lobby",
    host="10.0.0.1",
    port=25565,
    issued_at=0,
    expires_at=100,
    signature="",
)


def signed(command: SignedTransferCommand, *secrets: str) -> SignedTransferCommand:
    return replace(command, signature=" ".join(sign(secret, signed_text(command)) for secret in secrets))


def test_a_signature_is_as_the_interface_says() -> None:
    command = replace(COMMAND, player_uuid=UUID(int=1))
    assert signed_text(command) == f"{UUID(int=2)}.00000000-0000-0000-0000-000000000001.lobby..10.0.0.1.25565.100"
    assert sign("secret", "text") == "v1,L0Q2hVkpAOYZ8vOyNQw8ilc44ueia8miRNM5PDzWq9Y="


def test_a_command_is_good_once() -> None:
    verifier = TransferVerifier()
    verifier.set_secret("old", 0)
    command = signed(COMMAND, "old")
    assert verifier.refusal(command, 50) is None
    assert verifier.refusal(command, 50) == "the command was used already"
    assert verifier.refusal(signed(replace(COMMAND, transfer_id=uuid4()), "old"), 100) == "the command has expired"
    for forged in (
        signed(replace(COMMAND, transfer_id=uuid4()), "other"),
        replace(COMMAND, transfer_id=uuid4()),
        replace(signed(replace(COMMAND, transfer_id=uuid4()), "old"), host="evil.example"),
    ):
        assert verifier.refusal(forged, 50) == "the signature is wrong"


def test_while_the_secret_changes_either_is_good() -> None:
    verifier = TransferVerifier()
    verifier.set_secret("old", 0)
    commands = (replace(COMMAND, transfer_id=UUID(int=number), expires_at=50_000) for number in range(9))
    # Before it has heard of the new one.
    assert verifier.refusal(signed(next(commands), "new", "old"), 50) is None
    verifier.rotate("new", 1_000)
    assert verifier.refusal(signed(next(commands), "new", "old"), 60) is None
    assert verifier.refusal(signed(next(commands), "old"), 60) is None
    assert verifier.refusal(signed(next(commands), "old"), 1_000) == "the signature is wrong"
    assert verifier.refusal(signed(next(commands), "new"), 1_000) is None
    # The same secret again, as each registration brings it, changes nothing.
    verifier.set_secret("new", 2_000)
    assert verifier.refusal(signed(next(commands), "new"), 40_000) is None


def test_a_change_of_the_secret_that_is_told_before_a_registrations_answer_is_newer() -> None:
    verifier = TransferVerifier()

    def good(now: int, *secrets: str) -> list[bool]:
        commands = [signed(replace(COMMAND, transfer_id=uuid4(), expires_at=900_000), secret) for secret in secrets]
        return [verifier.refusal(command, now) is None for command in commands]

    verifier.registering()
    verifier.rotate("newer", 10_000)
    verifier.rotate("newest", 20_000)
    verifier.set_secret("old", 0)
    assert good(9_999, "old", "newer", "newest") == [True, True, True]
    assert good(20_000, "old", "newer", "newest") == [False, False, True]
    # The next answer is newer than what was told before it was asked for.
    verifier.registering()
    verifier.set_secret("later", 30_000)
    assert good(60_000, "newest", "later") == [False, True]
    verifier = TransferVerifier()
    verifier.rotate("told", 10_000)
    verifier.set_secret("answered", 20_000)
    assert good(50_000, "told", "answered") == [False, True]


# Permissions


def cache_with(nodes: dict[str, bool | None]) -> PermissionCache:
    cache = PermissionCache(AsyncHubClient("http://127.0.0.1:1", "key"), None)
    cache.put(
        ANN,
        EffectivePermissions(player_uuid=ANN, groups=[], permissions=nodes, revision=5, valid_until=1_000),
        None,
        time.monotonic(),
    )
    return cache


def test_an_answer_holds_until_its_end_and_for_earlier_changes() -> None:
    cache = cache_with({})
    assert cache.has_expired(BEN, 0)
    assert cache.is_before(BEN, 1)
    assert not cache.has_expired(ANN, 999)
    assert cache.has_expired(ANN, 1_000)
    assert not cache.is_before(ANN, 5)
    assert cache.is_before(ANN, 6)
    assert cache.is_before(ANN, None)
    assert not cache.may_be_stale(ANN)
    cache.changed()
    assert cache.may_be_stale(ANN)


def test_the_node_itself_comes_before_the_longest_wildcard() -> None:
    cache = cache_with({"Kit.*": True, "kit.vip.*": False, "kit.vip.gold": True, "fly": False})
    assert cache.has(ANN, "kit.start")
    assert cache.has(ANN, "KIT.vip.Gold")
    assert not cache.has(ANN, "kit.vip.silver")
    assert cache.check(ANN, "fly") is False
    assert cache.check(ANN, "kit") is None
    assert cache.check(BEN, "fly") is None
    assert cache_with({"*": True}).has(ANN, "anything")


# Punishments


def punishment(
    id: int, type: PunishmentKind, player: UUID | None, name: str | None = None, ip: str | None = None, end: int | None = None
) -> Punishment:
    return Punishment(
        id=id,
        type=type,
        issued_at=0,
        player_uuid=player,
        player_name=name,
        reason="why",
        expires_at=end,
        active=True,
        ip_based=False,
        ip_address=ip,
    )


def test_unchecked_player_counts_as_muted() -> None:
    cache = PunishmentCache(HubClock())
    assert cache.is_muted(ANN)
    cache.checked(ANN, "Ann", None, [], time.monotonic())
    assert not cache.is_muted(ANN)


def test_punishments_match_players_names_and_addresses() -> None:
    cache = PunishmentCache(HubClock())
    cache.checked(ANN, "Ann", "10.0.0.1", [], time.monotonic())
    cache.update(punishment(1, "MUTE", None, "ANN"), True)
    assert cache.is_muted(ANN)
    cache.update(punishment(1, "MUTE", None, "ANN"), False)
    assert not cache.is_muted(ANN)
    cache.update(punishment(2, "BAN", None, ip="10.0.0.1"), True)
    assert cache.ban(ANN) is not None
    # An address counts only where the punishment is one of addresses.
    cache.checked(BEN, "Ben", "10.0.0.2", [], time.monotonic())
    other = punishment(3, "BAN", uuid4(), "Cat", "10.0.0.2")
    cache.update(other, True)
    assert cache.ban(BEN) is None
    cache.update(replace(other, ip_based=True), True)
    assert cache.ban(BEN) is not None


def test_older_answer_does_not_undo_an_event() -> None:
    cache = PunishmentCache(HubClock())
    asked_at = time.monotonic()
    mute, ban = punishment(1, "MUTE", ANN), punishment(2, "BAN", ANN)
    cache.update(mute, False)
    cache.update(ban, True)
    # Written before the mute was revoked and the ban was made.
    cache.checked(ANN, "Ann", None, [mute], asked_at)
    assert not cache.is_muted(ANN)
    assert cache.ban(ANN) is not None
    # An answer that was asked for later counts.
    cache.checked(ANN, "Ann", None, [mute], time.monotonic() + 1)
    assert cache.is_muted(ANN)
    assert cache.ban(ANN) is None


def test_a_punishment_ends_by_itself_and_before_a_gap_nothing_is_current() -> None:
    cache = PunishmentCache(HubClock())
    cache.checked(ANN, "Ann", "10.0.0.1", [punishment(1, "MUTE", ANN, end=local_ms() - 1)], time.monotonic())
    assert not cache.is_muted(ANN)
    assert cache.is_current(ANN, "10.0.0.1")
    assert not cache.is_current(ANN, "10.0.0.2")
    cache.gap()
    assert not cache.is_current(ANN, "10.0.0.1")
    # Known punishments stay in force.
    cache.update(punishment(2, "BAN", ANN), True)
    cache.gap()
    assert cache.ban(ANN) is not None


def test_a_punishment_ends_by_the_hubs_clock() -> None:
    clock = HubClock()
    cache = PunishmentCache(clock)
    cache.checked(ANN, "Ann", None, [punishment(1, "BAN", ANN, end=local_ms() - 60_000)], time.monotonic())
    assert cache.ban(ANN) is None
    clock.ping(local_ms() - 120_000)
    assert cache.ban(ANN) is not None, "this machine's clock is two minutes ahead"
    for _ in range(4):
        clock.ping(local_ms())
    assert cache.ban(ANN) is None
