"""An end-to-end scenario of a network, run with the client that was generated from the hub's OpenAPI document.

A proxy and four game servers register; forty players load, join, chat, earn money, are ranked, matched and transferred,
one is muted and one banned; all leave. Only the event stream is read by plain HTTP.
"""

import base64
import hashlib
import hmac
import json
import os
import queue
import threading
import time
import uuid

import httpx
from hub_client import AuthenticatedClient
from hub_client import models
from hub_client.api.chat import send_chat_message
from hub_client.api.economy import get_currency_leaderboard, list_balances, modify_balance, get_statistic_leaderboard
from hub_client.api.keys import create_key
from hub_client.api.manage_economy import define_currency, read_ledger
from hub_client.api.manage_servers import get_managed_server, list_managed_servers
from hub_client.api.matchmaking import find_match
from hub_client.api.players import (
    get_player, get_player_statistics, increment_player_statistic, list_players, load_player, put_player_data,
)
from hub_client.api.punishments import create_punishment, query_punishments, remove_punishment
from hub_client.api.servers import (
    send_heartbeat, join_server, leave_server, list_online_players, list_servers, register_server, unregister_server,
)
from hub_client.api.transfers import get_transfer, transfer_player

URL = os.environ["HUB_URL"]
TIMEOUT_S = 30.0


def client_for(key):
    return AuthenticatedClient(
        base_url=URL, token=key, prefix="", auth_header_name="X-Service-Api-Key", raise_on_unexpected_status=True,
        timeout=httpx.Timeout(TIMEOUT_S))


def call(client, operation, expect=200, **arguments):
    """Calls an operation and returns its answer as the documented type."""
    answer = operation.sync_detailed(client=client, **arguments)
    assert answer.status_code == expect, f"{operation.__name__}: {answer.status_code} {answer.content}"
    return answer.parsed


class Stream(threading.Thread):
    """A server's event stream."""

    def __init__(self, key, server):
        super().__init__(daemon=True)
        self.key, self.server, self.events, self.opened = key, server, queue.Queue(), threading.Event()
        self.start()
        assert self.opened.wait(TIMEOUT_S), "the stream opens"

    def run(self):
        headers = {"X-Service-Api-Key": self.key}
        with httpx.stream("GET", f"{URL}/api/plugin/events", params={"serverId": self.server}, headers=headers,
                          timeout=None) as answer:
            assert answer.status_code == 200
            self.opened.set()
            for line in answer.iter_lines():
                if line.startswith("data:"):
                    self.events.put(json.loads(line[len("data:"):]))

    def next(self, kind):
        """The next event of this kind."""
        until = time.monotonic() + TIMEOUT_S
        while True:
            event = self.events.get(timeout=max(0.01, until - time.monotonic()))
            if event["type"] == kind:
                return event


class Server:
    """A game server, or the proxy, with its connector."""

    def __init__(self, client, key, server_id, server_type, role=models.ServerRole.GAME, max_players=0):
        self.client, self.id, self.type = client, server_id, server_type
        self.players = {}
        self.registration = call(client, register_server, 201, body=models.ServerRegistration(
            server_id=server_id, server_type=server_type, role=role, display_name=server_id.title(),
            max_players=max_players, host="127.0.0.1", port=25565, game_type="MINECRAFT",
            plugin_version="1.0.0", platform_name="Paper"))
        assert self.registration.server_id == server_id
        self.stream = Stream(key, server_id)

    def join(self, player):
        call(self.client, join_server, 204, body=models.PlayerJoin(
            server_id=self.id, player_uuid=player.id, player_name=player.name))
        self.players[player.id] = player

    def leave(self, player):
        call(self.client, leave_server, 204, player_uuid=player.id, server_id=self.id)
        del self.players[player.id]

    def send_heartbeat(self):
        players = [models.HeartbeatPlayer(uuid=player.id, name=player.name) for player in self.players.values()]
        call(self.client, send_heartbeat, 204, body=models.ServerHeartbeat(server_id=self.id, players=players))


class Player:
    def __init__(self, number):
        self.id, self.name = uuid.uuid5(uuid.NAMESPACE_DNS, f"player-{number}"), f"Player{number:02}"
        self.number = number


def verify(secret, event):
    """Checks the signature of a transfer command, like a connector."""
    signed = ".".join(str(part) for part in [
        event["transferId"], event["playerUuid"], event["targetServerId"], event.get("targetWorldId") or "",
        event["host"], event["port"], event["expiresAt"]])
    expected = base64.b64encode(hmac.new(secret.encode(), signed.encode(), hashlib.sha256).digest()).decode()
    assert hmac.compare_digest(event["signature"], f"v1,{expected}"), "the signature is wrong"


def online_players(client):
    return {row.player_uuid: row.server_id for row in call(client, list_online_players)}


def main():
    owner = client_for(os.environ["HUB_KEY"])
    created = call(owner, create_key, 201, body=models.ApiKeyRequest(name="connectors", scopes=[models.Scope.PLUGIN]))
    key, connector = created.api_key, client_for(created.api_key)

    # Servers register.
    call(owner, define_currency, name="coins", body=models.CurrencyBounds(minimum=0, maximum=1000, starting_balance=10))
    proxy = Server(connector, key, "proxy-1", "proxy", role=models.ServerRole.PROXY)
    lobby = Server(connector, key, "lobby-1", "lobby", max_players=100)
    games = [Server(connector, key, f"bedwars-{number}", "bedwars", max_players=16) for number in (1, 2)]
    survival = Server(connector, key, "survival-1", "survival", max_players=40)
    servers = [proxy, lobby, *games, survival]
    listed = call(owner, list_managed_servers, online=True)
    assert (listed.total, sorted(row.server_id for row in listed.items)) == (5, sorted(s.id for s in servers))
    one = call(owner, get_managed_server, server_id="proxy-1")
    assert (one.role, one.connectivity, one.status) == (
        models.ServerRole.PROXY, models.ServerConnectivity.CONNECTED, models.ServerStatus.ONLINE)

    # Forty players join.
    players = [Player(number) for number in range(40)]
    for player in players:
        profile = call(connector, load_player, uuid=player.id, username=player.name, game_type="MINECRAFT")
        assert (profile.uuid, profile.username) == (player.id, player.name)
        lobby.join(player)
    for server in servers:
        server.send_heartbeat()
    assert online_players(connector) == {player.id: "lobby-1" for player in players}
    found = call(connector, list_players, search="layer1", limit=5)
    assert (found.total, len(found.items)) == (10, 5) and all(row.online for row in found.items)
    now = call(connector, get_player, uuid=players[7].id)
    assert now.online and now.connection.server_id == "lobby-1"

    # A chat line reaches every server, the sender's included.
    for player in players[:3]:
        call(connector, send_chat_message, 204, body=models.ChatMessageInput(
            player_uuid=player.id, player_name=player.name, server_id="lobby-1", server_type="lobby",
            message=f"hello from {player.name}"))
        for server in servers:
            assert server.stream.next("CHAT")["message"] == f"hello from {player.name}"

    # Balances stay within the currency's bounds; leaderboards rank them.
    for player in players:
        balance = call(connector, modify_balance, owner_type="player", owner_key=str(player.id),
                       body=models.BalanceModification(currency="coins", amount=player.number * 30.25, reason="test"))
        assert balance.balance == min(10 + player.number * 30.25, 1000), (player.number, balance)
        counted = call(connector, increment_player_statistic, uuid=player.id,
                       body=models.StatisticIncrement(name="wins", amount=player.number % 7))
        assert counted.new_values.additional_properties["DAILY"] == player.number % 7
    balances = call(connector, list_balances, owner_type="player", owner_key=str(players[1].id))
    assert [(row.currency_name, row.balance) for row in balances] == [("coins", 40.25)]
    board = call(connector, get_currency_leaderboard, currency="coins", limit=7)
    # Equal balances rank by the time they were reached.
    assert [row.owner_key for row in board.entries] == [str(players[number].id) for number in range(33, 40)]
    assert [row.rank for row in board.entries] == list(range(1, 8))
    board = call(connector, get_statistic_leaderboard, name="wins", limit=5)
    assert [row.owner_key for row in board.entries] == [str(players[number].id) for number in (6, 13, 20, 27, 34)]
    periods = call(connector, get_player_statistics, uuid=players[6].id).statistics
    assert {(str(row.period_type), row.value) for row in periods} == {
        (period, 6) for period in ("DAILY", "WEEKLY", "MONTHLY", "LIFETIME")}
    ledger = call(owner, read_ledger, owner_type="player", owner_key=str(players[39].id))
    assert [(row.asked, row.applied, row.balance) for row in ledger.items] == [(1179.75, 990, 1000)]

    # Data is stored with a version; a write with an old version is refused.
    stored = call(connector, put_player_data, uuid=players[0].id, game_mode="bedwars", namespace="kit",
                  body=models.DataUpdate(data='{"sword": 1}'))
    stored = call(connector, put_player_data, uuid=players[0].id, game_mode="bedwars", namespace="kit",
                  body=models.DataUpdate(data='{"sword": 2}', version=stored.version))
    assert stored.version == 2
    conflict = call(connector, put_player_data, 409, uuid=players[0].id, game_mode="bedwars", namespace="kit",
                    body=models.DataUpdate(data='{"sword": 3}', version=1))
    assert isinstance(conflict, models.ErrorBody), conflict

    # All look for a game: there is room for 32.
    unmatched = []
    for player in players:
        found = call(connector, find_match, body=models.MatchRequest(
            player_uuid=player.id, player_name=player.name, server_type="bedwars"))
        if not found.success:
            assert str(found.result) == "ALL_SERVERS_FULL", found
            unmatched.append(player)
            continue
        target = next(server for server in games if server.id == found.matched_server.server_id)
        outcome = call(connector, transfer_player, body=models.TransferRequest(
            player_uuid=player.id, target_server_id=target.id))
        assert outcome.success and str(outcome.transfer_id) == str(found.transfer_id), (outcome, found)
        command = lobby.stream.next("TRANSFER")
        verify(target.registration.signing_secret, command)
        assert (command["transferId"], command["targetServerId"]) == (str(outcome.transfer_id), target.id)
        target.join(player)
        lobby.leave(player)
        record = call(owner, get_transfer, transfer_id=outcome.transfer_id)
        assert (record.result, record.from_server_id, record.target_server_id) == ("SUCCESS", "lobby-1", target.id)
    assert len(unmatched) == 8 and [len(server.players) for server in games] == [16, 16]
    for server in servers:
        server.send_heartbeat()
    assert {row.server_id: row.live.current_players for row in call(connector, list_servers, server_type="bedwars").items} == {
        "bedwars-1": 16, "bedwars-2": 16}

    # One player is muted, one is banned; every server gets the event.
    muted, banned = players[2], players[3]
    for player, kind in [(muted, models.PunishmentKind.MUTE), (banned, models.PunishmentKind.BAN)]:
        punishment = call(connector, create_punishment, body=models.PunishmentRequest(
            player_uuid=player.id, player_name=player.name, type_=kind, reason="spam", duration_ms=3_600_000,
            issuer_name="Moderator"))
        for server in servers:
            event = server.stream.next("PUNISHMENT")
            assert (event["action"], event["punishment"]["id"]) == ("CREATED", punishment.id)
    next(server for server in games if banned.id in server.players).leave(banned)
    assert banned.id not in online_players(connector)
    in_force = call(connector, query_punishments, player_uuid=banned.id)
    assert [(row.type_, row.active) for row in in_force] == [(models.PunishmentKind.BAN, True)]
    revoked = call(connector, remove_punishment, body=models.PunishmentRemoval(
        punishment_id=call(connector, query_punishments, player_uuid=muted.id)[0].id, actor_name="Moderator"))
    assert not revoked.active
    assert all(server.stream.next("PUNISHMENT")["action"] == "REVOKED" for server in servers)

    # All leave.
    for server in servers:
        for player in list(server.players.values()):
            server.leave(player)
    assert online_players(connector) == {}
    for server in servers:
        call(connector, unregister_server, 204, server_id=server.id)
    assert call(connector, list_servers, online=True).total == 0
    assert not call(connector, get_player, uuid=players[0].id).online
    print("end to end: 5 servers, 40 players, 32 matched and transferred")


main()
