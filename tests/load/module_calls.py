"""Measures the calls of a well-behaved matchmaking module under load: none may fail, and its breaker stays closed.

python3 tests/load/module_calls.py HUB [SECONDS]: HUB is the hub's executable. For 2, 16 and 64 connections it finds servers for
players as fast as it can, and prints what the hub counted of the module. Needs nothing but Python.
"""

import http.client
import json
import multiprocessing
import sys
import tempfile
import threading
import time

from modules import ROOT, Hub

CONNECTIONS = (2, 16, 64)
SERVERS = 20
PROCESSES = 4
POINT = "/api/manage/extension-points/matchmaking"


def server(number):
    """Body of its registration and heartbeats."""
    return {"serverId": f"game-{number}", "serverType": "game", "host": "127.0.0.1", "port": 25565 + number,
            "maxPlayers": 1_000_000, "gameState": "WAITING", "playersToStart": 0, "worlds": []}


def find(port, key, connections, seconds, results):
    """Calls on that many connections; returns the answers' statuses and times."""
    statuses, times, lock = {}, [], threading.Lock()

    def work(number):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        headers = {"X-Service-Api-Key": key, "Content-Type": "application/json"}
        ends, turn = time.perf_counter() + seconds, 0
        while time.perf_counter() < ends:
            turn += 1
            player = f"{number:08x}-0000-4000-8000-{turn % 1000:012x}"
            body = json.dumps({"playerUuid": player, "playerName": f"p{number}", "serverType": "game"})
            started = time.perf_counter()
            connection.request("POST", "/api/plugin/matchmaking/find", body, headers)
            answer = connection.getresponse()
            answer.read()
            taken = time.perf_counter() - started
            with lock:
                times.append(taken)
                statuses[answer.status] = statuses.get(answer.status, 0) + 1

    threads = [threading.Thread(target=work, args=(number,)) for number in connections]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.put((statuses, times))


def measure(hub, key, link, connections, seconds):
    # Activated again, so that the counts begin at 0.
    hub.expect(key, "PUT", POINT, {"modules": []})
    hub.expect(key, "PUT", POINT, {"modules": [link]})
    results, processes = multiprocessing.Queue(), min(PROCESSES, connections)
    for first in range(processes):
        numbers = list(range(first, connections, processes))
        multiprocessing.Process(target=find, args=(hub.port, key, numbers, seconds, results)).start()
    statuses, times, opened = {}, [], 0
    ends = time.perf_counter() + seconds
    while time.perf_counter() < ends:
        time.sleep(0.2)
        opened += json.loads(hub.expect(key, "GET", POINT))["modules"][0]["breaker"] != "CLOSED"
    for _ in range(processes):
        some, taken = results.get()
        times += taken
        for status, count in some.items():
            statuses[status] = statuses.get(status, 0) + count
    counted = json.loads(hub.expect(key, "GET", POINT))["modules"][0]
    times.sort()
    p50, p99 = (times[len(times) * percent // 100] * 1000 for percent in (50, 99))
    answers = ", ".join(f"{status}: {count}" for status, count in sorted(statuses.items()))
    print(f"| {connections} | {len(times) / seconds:,.0f} | {p50:.1f} ms | {p99:.1f} ms | {answers} | {counted['calls']:,} "
          f"| {counted['failures']:,} | {counted['late']:,} | {counted['p99Micros']:,} µs | {opened} |", flush=True)


def main():
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    with tempfile.TemporaryDirectory() as data:
        hub = Hub(sys.argv[1], data)
        hub.start()
        try:
            key = hub.network("load")
            hub.upload(key, "region-first", (ROOT / "plugins/region-first/region-first.wasm").read_bytes())
            for number in range(SERVERS):
                hub.expect(key, "POST", "/api/plugin/servers/register", server(number))
                hub.expect(key, "POST", "/api/plugin/servers/heartbeat", server(number))
            stop = threading.Event()

            def beat_on():
                while not stop.wait(5):
                    for number in range(SERVERS):
                        hub.call(key, "POST", "/api/plugin/servers/heartbeat", server(number))

            beating = threading.Thread(target=beat_on)
            beating.start()
            print("| connections | finds/s | p50 | p99 | answers | module calls | failures | late | p99 of a call | breaker not closed |")
            print("|---|---|---|---|---|---|---|---|---|---|")
            for connections in CONNECTIONS:
                measure(hub, key, {"name": "region-first", "version": 1}, connections, seconds)
            stop.set()
            beating.join()
        finally:
            hub.stop()


if __name__ == "__main__":
    main()
