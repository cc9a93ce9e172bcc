"""Measures the effect on one network while another is as hostile as its limits allow: for each bounded resource, one network
fills it and then calls it over 64 connections as fast as possible.

python3 tests/load/noisy_neighbor.py HUB [--database URL] [--seconds N] [NAME …], where HUB is the hub's executable and a NAME,
a part of an attack's name, selects attacks. Needs nothing but Python; all attacks take some 13 minutes with the default of 6
seconds. Prints the table of docs/develop/measurements/noisy-neighbor.md, one row per attack: the 99th percentiles of the quiet
network's reads, durable writes and chat without and with it, the growth of the hub's memory, and the numbers of the attack's
accepted and refused calls. Exits with 1 if an attack was never accepted, and so shows nothing, or exceeded its bounds.
"""

import argparse
import collections
import contextlib
import http.client
import json
import multiprocessing
import os
import sys
import tempfile
import threading
import time

from flood import flood, hold_open
from hub import LINE, ROOT, Hub, chat_request, p99_ms, request, run_caller
from largest_files import FILES

SECONDS, CONNECTIONS, FILL_SECONDS = 6, 64, 20
# The maximum number of worlds of one server, with room for the bytes of their names.
WORLDS = 40
PLAYER = LINE["playerUuid"]
READS, WRITES, CHATS = 200, 50, 100
FACTOR, MARGIN_MS, MEMORY_MIB = 4, 150, 300
ATTACKS = {}


def attack(name, connections=CONNECTIONS, how=flood, is_accepted=True):
    """Registers an attack: a function of the hub and the key that creates its data and returns requests. `is_accepted`:
    true if the hub must accept some of them, for the attack to show anything."""

    def register(prepare):
        ATTACKS[name] = (prepare, connections, how, is_accepted)
        return prepare

    return register


def player(number):
    return f"{number:08x}-0000-4000-8000-000000000000"


def fill(hub, key, requests):
    """Sends requests one after the other until one is refused, or for a while. Returns the number accepted."""
    connection = http.client.HTTPConnection("127.0.0.1", hub.port, timeout=60)
    end, count = time.perf_counter() + FILL_SECONDS, 0
    for method, path, body in requests:
        status, answer = hub.call(key, method, path, body, connection=connection)
        if status == 403 and b"quota_exceeded" in answer:
            break
        assert status < 300, (method, path, status, answer[:300])
        count += 1
        if time.perf_counter() > end:
            break
    return count


def server(number, worlds=0):
    return {
        "serverId": f"game-{number}", "serverType": "game", "gameType": "MINECRAFT", "displayName": "Game", "maxPlayers": 100,
        "host": "127.0.0.1", "port": 25565, "gameState": "WAITING", "playersToStart": 0,
        "worlds": [
            {"worldId": f"world-{number}-{world}", "displayName": "World", "currentPlayers": 1, "maxPlayers": 20,
             "gameState": "WAITING", "playersToStart": 4, "worldType": "arena"}
            for world in range(worlds)
        ],
    }


def register_servers(hub, key, count, worlds):
    return fill(hub, key, (("POST", "/api/plugin/servers/register", server(number, worlds)) for number in range(count)))


def text(size):
    return "x" * size


@attack("nothing", is_accepted=False)
def _(hub, key):
    return []


@attack("version")
def _(hub, key):
    return [request(key, "GET", "/api/version")]


@attack("wrong keys", is_accepted=False)
def _(hub, key):
    wrong = key[:-1] + ("A" if key[-1] != "A" else "B")
    return [request(wrong, "GET", f"/api/plugin/players/{player(1)}")]


@attack("catalog, full, read")
def _(hub, key):
    entries = {f"message.{number}": text(900) for number in range(900)}
    fill(hub, key, (
        ("POST", "/api/plugin/localization/defaults", {"namespace": f"plugin-{n}", "locale": "en-US", "entries": entries})
        for n in range(20)
    ))
    return [request(key, "GET", "/api/plugin/localization/catalog")]


@attack("catalog, written")
def _(hub, key):
    return [
        request(key, "POST", "/api/plugin/localization/defaults",
                {"namespace": f"plugin-{n}", "locale": "en-US", "entries": {f"m.{n}.{m}": text(200) for m in range(900)}})
        for n in range(50)
    ]


@attack("catalog, texts changed")
def _(hub, key):
    entries = {f"m.{m}": text(200) for m in range(900)}
    hub.expect(key, "POST", "/api/plugin/localization/defaults", {"namespace": "plugin", "locale": "en-US", "entries": entries})
    return [
        request(key, "PUT", f"/api/manage/localization/messages/en-US/plugin/m.{m}", {"value": letter * 2_000})
        for letter in "ab" for m in range(100)
    ]


@attack("find a world, many servers and worlds")
def _(hub, key):
    register_servers(hub, key, 300, WORLDS)
    return [request(key, "POST", "/api/plugin/matchmaking/find",
                    {"playerUuid": player(n), "serverType": "game", "worldType": "arena"}) for n in range(100)]


@attack("servers, full pages")
def _(hub, key):
    register_servers(hub, key, 300, WORLDS)
    return [request(key, "GET", f"/api/plugin/servers?limit=200&page={page}") for page in range(2)]


@attack("heartbeats, many worlds")
def _(hub, key):
    register_servers(hub, key, 50, WORLDS)
    return [request(key, "POST", "/api/plugin/servers/heartbeat", server(number, WORLDS)) for number in range(50)]


@attack("register and unregister")
def _(hub, key):
    registered = [request(key, "POST", "/api/plugin/servers/register", server(n)) for n in range(200)]
    return registered + [request(key, "POST", f"/api/plugin/servers/unregister?serverId=game-{n}") for n in range(200)]


def collection(hub, key, documents, size, name="items"):
    definition = {"name": name, "key": "id", "indexes": [{"field": "group", "type": "string"}, {"field": "n", "type": "number"}]}
    hub.expect(key, "POST", "/api/plugin/collections/register", {"collections": [definition]})
    fill(hub, key, (
        ("PUT", f"/api/plugin/collections/{name}/item-{n}", {"id": f"item-{n}", "group": "all", "n": n, "text": text(size)})
        for n in range(documents)
    ))


@attack("mget of 200 large documents")
def _(hub, key):
    collection(hub, key, 200, 250_000)
    ids = [f"item-{n}" for n in range(200)]
    return [request(key, "POST", "/api/plugin/collections/items/mget", {"ids": ids})]


@attack("mget under an Idempotency-Key")
def _(hub, key):
    collection(hub, key, 200, 250_000)
    ids = [f"item-{n}" for n in range(200)]
    return [request(key, "POST", "/api/plugin/collections/items/mget", {"ids": ids}, f"Idempotency-Key: k{n}\r\n") for n in range(500)]


@attack("collection, by, range and top of large documents")
def _(hub, key):
    collection(hub, key, 400, 100_000)
    paths = ["by/group?value=all&limit=200", "range/n?limit=200", "top/n?limit=200", "page/n?limit=200"]
    return [request(key, "GET", f"/api/plugin/collections/items/{path}") for path in paths]


@attack("indexes added to collections")
def _(hub, key):
    names = [f"items-{number}" for number in range(10)]
    for name in names:
        collection(hub, key, 2_000, 100, name)
    return [
        request(key, "POST", "/api/plugin/collections/register", {"collections": [
            {"name": name, "key": "id", "indexes": [{"field": f"f{n}", "type": "string"} for n in range(count)]}]})
        for count in range(1, 15) for name in names
    ]


@attack("documents of 256 KiB, written")
def _(hub, key):
    collection(hub, key, 1, 10)
    return [request(key, "PUT", f"/api/plugin/collections/items/item-{n}", {"id": f"item-{n}", "text": text(250_000)}) for n in range(20)]


@attack("data of 256 KiB, written")
def _(hub, key):
    body = {"data": json.dumps({"text": text(250_000)})}
    return [request(key, "PUT", f"/api/plugin/players/{player(n)}/data/global/big", body) for n in range(20)]


@attack("payments")
def _(hub, key):
    return [
        request(key, "POST", f"/api/plugin/economy/player/{player(n)}/currencies/modify",
                {"currency": "coins", "amount": 1, "reason": "load"})
        for n in range(200)
    ]


@attack("leaderboard")
def _(hub, key):
    fill(hub, key, (
        ("POST", f"/api/plugin/economy/player/{player(n)}/statistics/increment", {"name": "kills", "gameMode": "global", "amount": n})
        for n in range(20_000)
    ))
    return [request(key, "GET", "/api/plugin/economy/leaderboard?name=kills&limit=100")]


@attack("profile with many namespaces")
def _(hub, key):
    hub.expect(key, "POST", f"/api/plugin/players/{player(1)}/load?username=player")
    fill(hub, key, (
        ("PUT", f"/api/plugin/players/{player(1)}/data/global/space-{n}", {"data": json.dumps({"text": text(60_000)})})
        for n in range(500)
    ))
    return [request(key, "GET", f"/api/plugin/players/{player(1)}")]


@attack("player search")
def _(hub, key):
    fill(hub, key, (("POST", f"/api/plugin/players/{player(n)}/load?username=player_{n}", None) for n in range(10_000)))
    return [request(key, "GET", f"/api/plugin/players?search={part}&limit=200") for part in ["a", "pla", "_1", "er_9", "zzz"]]


@attack("permissions, many nodes")
def _(hub, key):
    nodes = [{"node": f"some.plugin.permission.number.{n}", "value": True, "context": "global"} for n in range(500)]
    fill(hub, key, (
        ("PUT", f"/api/plugin/permissions/groups/group-{n}", {"groupId": f"group-{n}", "displayName": "G", "priority": n, "permissions": nodes})
        for n in range(200)
    ))
    for n in range(50):
        hub.call(key, "POST", f"/api/plugin/permissions/users/{player(1)}/permissions", {"node": f"group.group-{n}", "value": True})
    return [request(key, "GET", path) for path in
            ["/api/plugin/permissions/groups", f"/api/plugin/permissions/users/{player(1)}/effective"]]


@attack("punishments, read and written")
def _(hub, key):
    body = {"playerUuid": player(1), "playerName": "P", "type": "WARN", "reason": text(200)}
    fill(hub, key, (("POST", "/api/plugin/punishments/create", body) for _ in range(5_000)))
    return [request(key, "GET", f"/api/plugin/punishments/player/{player(1)}/history?limit=200"),
            request(key, "GET", f"/api/plugin/punishments/player/{player(1)}?activeOnly=false"),
            request(key, "POST", "/api/plugin/punishments/create", body)]


@attack("config documents of 256 KiB, published")
def _(hub, key):
    return [request(key, "POST", "/api/plugin/config/publish", {"group": "g", "namespace": f"n{n}", "doc": {"text": text(250_000)}})
            for n in range(20)]


@attack("log lines")
def _(hub, key):
    register_servers(hub, key, 20, 0)
    lines = [{"at": 1_800_000_000_000, "stream": "stdout", "text": text(500)} for _ in range(1_500)]
    return [request(key, "POST", f"/api/plugin/servers/game-{n}/logs", {"lines": lines}) for n in range(20)]


@attack("worlds opened")
def _(hub, key):
    register_servers(hub, key, 20, 0)
    return [request(key, "POST", "/api/plugin/worlds/open",
                    {"ownerScope": "player", "ownerId": player(n), "gameId": "game", "worldKey": "main"}) for n in range(1_000)]


@attack("chat")
def _(hub, key):
    return [chat_request(key)[0]]


@attack("keys made")
def _(hub, key):
    return [request(key, "POST", "/api/manage/keys", {"name": f"k{n}", "scopes": ["plugin"]}) for n in range(500)]


@attack("keys, full pages")
def _(hub, key):
    servers = ["x" * 150 + f"{n:03}" for n in range(100)]
    fill(hub, key, (("POST", "/api/manage/keys", {"name": f"k{n}", "scopes": ["plugin"], "servers": servers}) for n in range(400)))
    return [request(key, "GET", "/api/manage/keys?limit=200&page=0"), request(key, "GET", "/api/manage/keys?limit=200&page=1")]


def audited(hub, key, entries):
    hub.expect(key, "POST", "/api/plugin/localization/defaults", {"namespace": "plugin", "locale": "en-US", "entries": {"m": "x"}})
    fill(hub, key, (("PUT", "/api/manage/localization/messages/en-US/plugin/m", {"value": text(1_500) + str(n)}) for n in range(entries)))


@attack("audit log, full pages")
def _(hub, key):
    audited(hub, key, 2_000)
    return [request(key, "GET", f"/api/manage/audit?limit=200&page={page}") for page in range(5)]


@attack("audit log, exported")
def _(hub, key):
    audited(hub, key, 2_000)
    return [request(key, "GET", "/api/manage/audit/export")]


@attack("players exported, large documents")
def _(hub, key):
    collection(hub, key, 400, 250_000)
    return [request(key, "GET", f"/api/manage/players/{player(n)}/export") for n in range(100)]


@attack("players forgotten, large documents")
def _(hub, key):
    # Each is evaluated for each player, so that few are done in time.
    collection(hub, key, 100, 250_000)
    return [request(key, "DELETE", f"/api/manage/players/{player(n)}") for n in range(2_000)]


@attack("wrong passwords", is_accepted=False)
def _(hub, key):
    return [request(key, "POST", "/api/people/sign-in", {"email": f"p{n}@example.org", "password": "a wrong password"}) for n in range(500)]


@attack("people invited")
def _(hub, key):
    return [request(key, "POST", "/api/manage/people", {"email": f"p{n}@example.org", "role": "VIEWER"}) for n in range(500)]


@attack("webhooks that fail, tested")
def _(hub, key):
    made = [
        json.loads(hub.expect(key, "POST", "/api/manage/webhooks", {"url": f"https://hook-{n}.invalid/", "events": ["CHAT"]}))
        for n in range(20)
    ]
    return [chat_request(key)[0]] + [request(key, "POST", f"/api/manage/webhooks/{hook['webhookId']}/test", {}) for hook in made]


@attack("balances imported")
def _(hub, key):
    table = "uuid,balance\n" + "".join(f"{player(n)},{n}\n" for n in range(20_000))
    path = "/api/manage/imports?kind=balances&currency=coins"
    return [request(key, "POST", path, table.encode()).replace(b"application/json", b"text/csv        ")]


def import_again(port, messages, connections, seconds, results):
    """Sends each message, an upload of a file, as soon as the import before has ended."""
    statuses, end = collections.Counter(), time.perf_counter() + seconds
    while time.perf_counter() < end:
        for path, key, file in messages:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request("POST", path, file, {"X-Service-Api-Key": key, "Content-Type": "application/octet-stream"})
            answer = connection.getresponse()
            statuses[answer.status] += 1
            answer.read()
            time.sleep(0.05)
    results.put(statuses)


def imported(kind, make):
    return lambda hub, key: [(f"/api/manage/imports?kind={kind}", key, make())]


for file_name, (import_kind, make_file) in FILES.items():
    attack(f"import: {file_name}", how=import_again)(imported(import_kind, make_file))


@attack("Discord messages from large templates")
def _(hub, key):
    for number in range(20):
        url = f"https://hook-{number}.invalid/api/webhooks/1/x"
        template = {"embeds": [{"description": "{message}" * 300} for _ in range(10)]}
        hub.expect(key, "POST", "/api/manage/webhooks", {"url": url, "events": ["CHAT"], "kind": "DISCORD", "templates": {"CHAT": template}})
    return [chat_request(key)[0]]


@attack("deliveries of 16 KiB, listed")
def _(hub, key):
    register_servers(hub, key, 1, 0)
    hub.expect(key, "POST", "/api/plugin/servers/players", {"serverId": "game-0", "playerUuid": player(1), "playerName": "P"})
    payload = {"text": text(16_000)}
    fill(hub, key, (
        ("POST", "/api/plugin/deliveries", {"playerUuid": player(1), "kind": f"kind-{n}", "payload": payload}) for n in range(800)
    ))
    return [request(key, "GET", "/api/plugin/deliveries?serverId=game-0"), request(key, "GET", "/api/manage/deliveries?limit=200")]


@attack("deliveries created")
def _(hub, key):
    return [
        request(key, "POST", "/api/plugin/deliveries", {"playerUuid": player(n), "kind": "kit", "payload": {"text": text(16_000)}})
        for n in range(500)
    ]


@attack("tickets of a long line")
def _(hub, key):
    tickets = [{"playerUuid": player(n), "serverType": "full", "priority": n % 1_000} for n in range(3_000)]
    fill(hub, key, (("POST", "/api/plugin/matchmaking/tickets", ticket) for ticket in tickets))
    changed = [{**ticket, "priority": -1} for ticket in tickets[:200]]
    return [
        request(key, "GET", "/api/manage/matchmaking/lines/type%3Afull/tickets?limit=200"),
        request(key, "GET", "/api/manage/matchmaking/lines"),
        *(request(key, "POST", "/api/plugin/matchmaking/tickets", ticket) for ticket in changed),
    ]


@attack("reports, notes and players of a year")
def _(hub, key):
    reports = ({"reporterUuid": player(n), "playerUuid": player(1), "reason": text(500)} for n in range(400))
    fill(hub, key, (("POST", "/api/plugin/reports", report) for report in reports))
    fill(hub, key, (("POST", f"/api/manage/players/{player(1)}/notes", {"text": text(2_000), "pinned": False}) for _ in range(200)))
    return [
        request(key, "GET", "/api/manage/reports?limit=200"),
        request(key, "GET", f"/api/manage/players/{player(1)}/notes?limit=200"),
        request(key, "GET", "/api/manage/analytics/players?from=2026-01-01&to=2026-11-01"),
    ]


@attack("usage")
def _(hub, key):
    return [request(key, "GET", "/api/manage/usage?limit=200")]


@attack("a matchmaking module that is called")
def _(hub, key):
    register_servers(hub, key, 100, 0)
    hub.upload(key, "policy", (ROOT / "plugins/region-first/region-first.wasm").read_bytes())
    while json.loads(hub.expect(key, "GET", "/api/manage/modules/policy/1"))["state"] == "COMPILING":
        time.sleep(0.2)
    hub.set_chain(key, [{"name": "policy", "version": 1}], point="matchmaking")
    return [request(key, "POST", "/api/plugin/matchmaking/find", {"playerUuid": player(n), "serverType": "game"}) for n in range(100)]


@attack("artifacts uploaded", connections=16)
def _(hub, key):
    return [
        request(key, "POST", f"/api/manage/artifacts?name=a{n}&version=1", bytes(20 << 20)).replace(b"application/json", b"application/zip ")
        for n in range(4)
    ]


@attack("event streams, never read", connections=3_000, how=hold_open)
def _(hub, key):
    return [request(key, "GET", f"/api/plugin/events?serverId=game-{n}") for n in range(3_000)]


@attack("half-sent bodies", connections=3_000, how=hold_open, is_accepted=False)
def _(hub, key):
    return [request(key, "POST", "/api/plugin/chat", LINE)[:-5]]


@attack("answers of 4 MiB, never read", connections=500, how=hold_open)
def _(hub, key):
    collection(hub, key, 200, 100_000)
    return [request(key, "POST", "/api/plugin/collections/items/mget", {"ids": [f"item-{n}" for n in range(200)]})]


def quiet_calls(key):
    data = f"/api/plugin/players/{PLAYER}/data/global/inventory"
    return {
        "reads": ((request(key, "GET", data), b"HTTP/1.1 200 "), READS),
        "writes": ((request(key, "PUT", data, {"data": '{"coins":12}'}), b"HTTP/1.1 200 "), WRITES),
        "chat": (chat_request(key), CHATS),
    }


def measure(hub, key):
    """The 99th percentile of each of the quiet network's calls, in milliseconds, and its wrong answers."""
    callers, percentiles, wrong = [], {}, []
    for name, (call, rate) in quiet_calls(key).items():
        results = multiprocessing.Queue()
        process = multiprocessing.Process(target=run_caller, args=(hub, call, rate, SECONDS, results))
        process.start()
        callers.append((name, process, results))
    for name, process, results in callers:
        _, latencies, failed = results.get()
        process.join()
        percentiles[name] = p99_ms(latencies)
        wrong += [(name, answer[:80]) for answer in failed]
    return percentiles, wrong


@contextlib.contextmanager
def watch_memory(hub):
    """Yields a list that afterwards holds the maximum growth of the hub's memory in MiB."""
    before, most, stop = hub.resident_bytes(), [0], threading.Event()

    def watch():
        while not stop.wait(0.1):
            most[0] = max(most[0], hub.resident_bytes() - before)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield most
    finally:
        stop.set()
        watching.join()


def run(hub, quiet, name):
    """Prints an attack's row. Returns its problem, if any."""
    prepare, connections, how, is_accepted = ATTACKS[name]
    noisy = hub.network(f"noisy-{len(name)}-{time.time_ns()}")
    messages = prepare(hub, noisy)
    time.sleep(1)
    alone, _ = measure(hub, quiet)
    statuses, results = {}, multiprocessing.Queue()
    with watch_memory(hub) as most:
        if messages:
            attacker = multiprocessing.Process(target=how, args=(hub.port, messages, connections, SECONDS + 1, results))
            attacker.start()
            time.sleep(0.5)
        beside, wrong = measure(hub, quiet)
        if messages:
            statuses = results.get()
            attacker.join()
    mib = most[0] >> 20
    accepted = sum(count for status, count in statuses.items() if status in range(200, 300))
    others = ", ".join(f"{count:,} × {status}" for status, count in statuses.items() if status not in range(200, 300))
    problems = [f"{call} {beside[call]:.1f} ms" for call in beside
                if beside[call] > max(FACTOR * alone[call], alone[call] + MARGIN_MS)]
    if wrong:
        problems.append(f"{len(wrong)} wrong answers")
    if mib >= MEMORY_MIB:
        problems.append(f"{mib} MiB")
    columns = " | ".join(f"{alone[call]:.1f} → {beside[call]:.1f}" for call in alone)
    print(f"| {name} | {columns} | {mib} MiB | {accepted:,} | {others or '–'} | {'no' if problems else 'yes'} |", flush=True)
    for call, answer in wrong[:3]:
        print(f"  {call}: {answer}", file=sys.stderr, flush=True)
    if is_accepted and not accepted:
        problems.append("NEVER ACCEPTED, so it shows nothing")
    return problems


def main():
    global SECONDS
    parser = argparse.ArgumentParser()
    parser.add_argument("hub")
    parser.add_argument("--database")
    parser.add_argument("--seconds", type=int, default=SECONDS)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_intermixed_args()
    SECONDS = arguments.seconds
    options = ["--database", arguments.database] if arguments.database else []
    selected = [name for name in ATTACKS if not arguments.names or any(part in name for part in arguments.names)]
    if not selected:
        sys.exit(f"no attack has one of these in its name; there are: {', '.join(ATTACKS)}")
    bad = {}
    with tempfile.TemporaryDirectory() as data:
        hub = Hub(arguments.hub, data, options)
        hub.start()
        try:
            quiet = hub.network(f"quiet-{time.time_ns()}")
            hub.expect(quiet, "PUT", f"/api/plugin/players/{PLAYER}/data/global/inventory", {"data": "{}"})
            print(f"{SECONDS} seconds an attack, {os.cpu_count()} cores\n")
            print("| attack | " + " | ".join(quiet_calls(quiet)) + " | memory | accepted | other answers | within |")
            print("|---|---|---|---|---:|---:|---|---|")
            for name in selected:
                problems = run(hub, quiet, name)
                if problems:
                    bad[name] = problems
        finally:
            hub.stop()
    print(f"\n{len(selected) - len(bad)} of {len(selected)} within bounds")
    for name, problems in bad.items():
        print(f"{name}: {', '.join(problems)}", file=sys.stderr)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
