"""Measures single jobs of a hub, each on a hub and data of its own.

python3 tests/load/rows.py HUB [--postgres URL] [--seconds S] [--connections C] [ROW …]

HUB is the hub's executable, URL an empty database of PostgreSQL (by itself it measures SQLite), ROW one of those in ROWS. Prints
for each row: requests a second, the median and the 99th percentile of their time, what was answered with an error, and the
processor time that the hub used for a request, which other work on the machine changes least. Needs wrk, and psql for
PostgreSQL.
"""

import argparse
import json
import os
import pathlib
import re
import resource
import socket
import sqlite3
import subprocess
import tempfile
import time

from hub import ROOT, Hub

LUA = pathlib.Path(__file__).with_name("mix.lua")
TICKS = os.sysconf("SC_CLK_TCK")
STREAMS = 5_000
WARM_UP = 3


def server(number, **fields):
    """Body of a server's registration."""
    return {"serverId": f"game-{number:02}", "serverType": "game", "host": "127.0.0.1", "port": 25565,
            "maxPlayers": 1_000_000, "gameState": "WAITING", "playersToStart": 0, "worlds": []} | fields


def register(hub, key, servers):
    for number in range(1, servers + 1):
        hub.expect(key, "POST", "/api/plugin/servers/register", server(number))


def documents(hub, key):
    body = {"data": json.dumps({"coins": 12})}
    for number in range(1, 1001):
        player = f"{number:08x}-0000-4000-8000-000000000000"
        hub.expect(key, "PUT", f"/api/plugin/players/{player}/data/global/inventory", body)


def players(hub, key):
    """Players with a name, data, a balance and a statistic."""
    register(hub, key, 1)
    documents(hub, key)
    for number in range(1, 1001):
        player = f"{number:08x}-0000-4000-8000-000000000000"
        load = {"playerName": f"Player{number}", "ip": "127.0.0.1"}
        hub.expect(key, "POST", f"/api/plugin/players/{player}/load", load)
        change = {"currency": "coins", "amount": 1}
        hub.expect(key, "POST", f"/api/plugin/economy/player/{player}/currencies/modify", change)
    analyze(hub)


def analyze(hub):
    """Makes PostgreSQL plan like after its own vacuum, which comes a minute after a table has grown."""
    if hub.database:
        subprocess.run(["psql", "-q", hub.database, "-c", "VACUUM ANALYZE"], check=True)


def busy_server(hub, key):
    hub.expect(key, "POST", "/api/plugin/servers/register", server(1, serverId="busy"))


def activate(hub, key, name, file, point, **link):
    """Uploads a module and puts it alone in a chain."""
    hub.upload(key, name, file.read_bytes())
    while json.loads(hub.expect(key, "GET", f"/api/manage/modules/{name}/1"))["state"] != "READY":
        time.sleep(0.1)
    hub.set_chain(key, [{"name": name, "version": 1} | link], point)


def module(hub, key, servers=100):
    register(hub, key, servers)
    activate(hub, key, "region-first", ROOT / "plugins/region-first/region-first.wasm", "matchmaking")


LINES, TICKETS = 50, 1_000


def waiting_servers(hub, key):
    """A lobby with players, and full servers that they can wait for."""
    uuid = "{:08x}-0000-4000-8000-000000000000".format
    hub.expect(key, "POST", "/api/plugin/servers/register", server(0, serverId="lobby", serverType="lobby", maxPlayers=0))
    there = [{"uuid": uuid(number)} for number in range(1, TICKETS + 1)]
    hub.expect(key, "POST", "/api/plugin/servers/heartbeat", {"serverId": "lobby", "players": there})
    for line in range(LINES):
        full = server(line, serverId=f"full-{line}", serverType=f"line-{line}", maxPlayers=1)
        hub.expect(key, "POST", "/api/plugin/servers/register", full)
        join = {"serverId": f"full-{line}", "playerUuid": uuid(1_000_000 + line), "playerName": f"Full{line}"}
        hub.expect(key, "POST", "/api/plugin/servers/players", join)


def wait_in_lines(hub, key):
    """Takes a ticket for each player of the lobby, spread over the lines."""
    for number in range(1, TICKETS + 1):
        ticket = {"playerUuid": f"{number:08x}-0000-4000-8000-000000000000", "serverType": f"line-{number % LINES}"}
        taken = json.loads(hub.expect(key, "POST", "/api/plugin/matchmaking/tickets", ticket))
        assert taken["state"] == "WAITING", taken


def share_of_a_core(hub, seconds):
    """Share of a core that the hub computes meanwhile, in percent."""
    used = processor_time(hub)
    time.sleep(seconds)
    return (processor_time(hub) - used) / seconds * 100


# Owners who rank below those whose values change.
CURRENCY_RANKS = """INSERT INTO balances (network_id, owner_type, owner_key, currency, balance, previous, reached, last_entry)
    SELECT network_id, 'player', {key}, 'coins', 1, 0, n, n FROM (SELECT network_id FROM networks) AS networks,
    {numbers}"""
STATISTIC_RANKS = """INSERT INTO statistics (network_id, owner_type, owner_key, game_mode, name, period, period_start, value,
        updated_at, reached)
    SELECT network_id, 'player', {key}, 'global', 'kills', 'LIFETIME', '1970-01-01', 0.5, 1, n
    FROM (SELECT network_id FROM networks) AS networks, {numbers}"""


def leaderboard(insert, rows):
    def fill(hub, key):
        update(hub, key, "modify" if insert is CURRENCY_RANKS else "increment", 1).wait()
        tail = "'-0000-4000-8000-000000000000'"
        if hub.database:
            numbers = f"generate_series(10000, {8999 + rows}) AS numbers (n)"
            statement = insert.format(key=f"LPAD(TO_HEX(n), 8, '0') || {tail}", numbers=numbers)
            subprocess.run(["psql", "-q", hub.database, "-c", statement], check=True)
            analyze(hub)
        else:
            numbers = ("(WITH RECURSIVE numbers (n) AS (SELECT 10000 UNION ALL SELECT n + 1 FROM numbers WHERE n < "
                       f"{8999 + rows}) SELECT n FROM numbers) AS numbers")
            database = sqlite3.connect(next(pathlib.Path(hub.data).glob("*.db")), timeout=60)
            database.execute(insert.format(key=f"printf('%08x', n) || {tail}", numbers=numbers))
            database.commit()
            database.close()
    return fill


def update(hub, key, job, seconds):
    """Changes random players of a leaderboard some 1,000 times a second."""
    environment = os.environ | {"JOB": job, "HUB_KEY": key, "DELAY": "10", "PLAYERS": "1000"}
    command = ["wrk", "-t", "1", "-c", "11", "-d", f"{seconds}s", "-s", LUA, f"http://127.0.0.1:{hub.port}"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


# The job in mix.lua, its preparation, and the job that changes the data read.
ROWS = {
    "data-get": ("data-get", documents, None),
    "data-put": ("data-put", documents, None),
    "modify": ("modify", None, None),
    "increment": ("increment", None, None),
    "profile": ("profile", players, None),
    "find-20": ("find", lambda hub, key: register(hub, key, 20), None),
    "find-100": ("find", lambda hub, key: register(hub, key, 100), None),
    "find-1000": ("find", lambda hub, key: register(hub, key, 1000), None),
    "find-module-100": ("find", module, None),
    "heartbeat": ("heartbeat", lambda hub, key: register(hub, key, 20), None),
    "busy-heartbeat": ("busy-heartbeat", busy_server, None),
    "currency-top-1000": ("currency-top", leaderboard(CURRENCY_RANKS, 1_000), "modify"),
    "currency-top-1000000": ("currency-top", leaderboard(CURRENCY_RANKS, 1_000_000), "modify"),
    "statistic-top-1000": ("statistic-top", leaderboard(STATISTIC_RANKS, 1_000), "increment"),
    "statistic-top-1000000": ("statistic-top", leaderboard(STATISTIC_RANKS, 1_000_000), "increment"),
}


def processor_time(hub):
    """Processor seconds of the hub."""
    fields = pathlib.Path(f"/proc/{hub.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def run_wrk(hub, key, job, seconds, connections, threads=2, **environment):
    """Runs a job of mix.lua; returns requests a second, the median and the 99th percentile of their time in milliseconds, how
    many were answered with an error, and the microseconds that the hub computed for each."""
    used = processor_time(hub)
    command = ["wrk", "-t", str(threads), "-c", str(connections), "-d", f"{seconds}s", "--latency", "-s", LUA,
               f"http://127.0.0.1:{hub.port}"]
    environment = os.environ | {"JOB": job, "HUB_KEY": key or ""} | environment
    output = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    used = processor_time(hub) - used
    rate, p50, p99, errors = map(float, re.search(r"RESULT (\S+) (\S+) (\S+) (\S+)", output).groups())
    requests = int(re.search(r"(\d+) requests in", output).group(1))
    return rate, p50, p99, int(errors), used / max(requests, 1) * 1e6


def measure(hub, key, row, seconds, connections):
    job, prepare, changing = ROWS[row]
    if prepare:
        prepare(hub, key)
    # The data written is there already when it is measured.
    run_wrk(hub, key, job, WARM_UP, connections)
    updater = update(hub, key, changing, seconds + 1) if changing else None
    rate, p50, p99, errors, used = run_wrk(hub, key, job, seconds, connections)
    changes = ""
    if updater:
        changed = re.search(r"RESULT (\S+)", updater.communicate()[0]).group(1)
        changes = f"  {changed} changes/s"
    print(f"{row:22} {rate:>7.0f}/s  p50 {p50} ms  p99 {p99} ms  errors {errors}  "
          f"{used:.1f} µs of processor time each{changes}", flush=True)


def memory(hub, count=STREAMS):
    """Memory of an empty hub, in megabytes, and of each open stream, in kilobytes."""
    # A network has 5,000 streams at most (docs/reference/limits.md).
    keys = [hub.network(f"streams-{number}") for number in range(2)]

    def megabytes():
        return hub.resident_bytes() / 1e6

    time.sleep(3)
    empty = megabytes()
    streams = []
    for number in range(count):
        stream = socket.create_connection(("127.0.0.1", hub.port))
        key = keys[number % len(keys)]
        request = (f"GET /api/plugin/events?serverId=s{number} HTTP/1.1\r\nHost: hub\r\nX-Service-Api-Key: {key}\r\n\r\n")
        stream.sendall(request.encode())
        streams.append(stream)
    for stream in streams:
        assert stream.recv(15).startswith(b"HTTP/1.1 200")
    time.sleep(2)
    full = megabytes()
    for stream in streams:
        stream.close()
    return empty, (full - empty) * 1000 / count


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("hub")
    arguments.add_argument("--postgres")
    arguments.add_argument("--seconds", type=int, default=5)
    arguments.add_argument("--connections", type=int, default=32)
    arguments.add_argument("rows", nargs="*", metavar="ROW")
    given = arguments.parse_intermixed_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    # Servers that are registered once stay online.
    os.environ["HUB_OFFLINE_AFTER"] = "3600000"
    for number, row in enumerate(given.rows or [row for row in ROWS if "module" not in row]):
        options, database = [], None
        if given.postgres:
            database = f"{given.postgres.rsplit('/', 1)[0]}/rows_{os.getpid()}_{number}"
            subprocess.run(["psql", "-q", given.postgres, "-c", f"CREATE DATABASE {database.rsplit('/', 1)[1]}"], check=True)
            options = ["--database", database]
        with tempfile.TemporaryDirectory() as data:
            hub = Hub(given.hub, data, options)
            hub.database = database
            hub.start()
            try:
                key = hub.network("rows")
                if row == "memory":
                    empty, stream = memory(hub)
                    print(f"memory: empty {empty:.1f} MB, {stream:.1f} kB for each of {STREAMS} streams")
                else:
                    measure(hub, key, row, given.seconds, given.connections)
            finally:
                hub.stop()
                if database:
                    drop = f"DROP DATABASE {database.rsplit('/', 1)[1]}"
                    subprocess.run(["psql", "-q", given.postgres, "-c", drop], check=True)


if __name__ == "__main__":
    main()
