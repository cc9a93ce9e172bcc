"""Runs a hub for long, with occasional kills, and looks for growth: memory, open files, threads, and rows that
wait in the database.

python3 tests/load/soak.py HUB [SECONDS], where HUB is the hub's executable; SECONDS is 1800 unless it is given. Needs nothing
but Python. Two networks find servers through a module, chat through another, write data and money, send heartbeats, listen,
upload, and ban. For the first third (or for --kills seconds) the hub is killed by SIGKILL every three minutes and started
again; then it runs to the end. Prints a row of samples every 15 seconds, and for each series how much it grows in an hour
after the last kill, without the first quarter of that time. Fails where one grows, where an answer was 5xx of a hub that was
not being killed, or where rows still wait at the end.
"""

import argparse
import collections
import http.client
import pathlib
import random
import signal
import socket
import sqlite3
import statistics
import tempfile
import threading
import time

from hub import LINE, ROOT, Hub

KILL_EVERY, SAMPLE_EVERY = 180, 15
PLAYERS, SERVERS, STREAMS = 200, 8, 6
# Allowed growth of a series in an hour, and its normal fluctuation.
ALLOWED = {"memory MiB": (20, 4), "files": (6, 2), "threads": (6, 2), "outbox rows": (6, 2), "temporary files": (6, 2)}


def player(number):
    return f"{number:08x}-0000-4000-8000-000000000000"


class Network:
    def __init__(self, hub, name):
        self.hub, self.key, self.random = hub, hub.network(name), random.Random(name)

    def prepare(self):
        for name, point in (("region-first", "matchmaking"), ("chat-guard", "chat")):
            component = (ROOT / f"plugins/{name}/{name}.wasm").read_bytes()
            self.hub.upload(self.key, name, component)
            self.hub.set_chain(self.key, [{"name": name, "version": 1}], point)

    def register(self, number):
        body = {"serverId": f"game-{number}", "serverType": "game", "port": 25565, "maxPlayers": 1000}
        return "POST", "/api/plugin/servers/register", body

    def heartbeat(self):
        number = self.random.randrange(SERVERS)
        online = [{"uuid": player(id), "name": f"p{id}"} for id in range(PLAYERS) if id % SERVERS == number]
        body = {"serverId": f"game-{number}", "players": self.random.sample(online, len(online) // 2)}
        return "POST", "/api/plugin/servers/heartbeat", body

    def find(self):
        body = {"playerUuid": self.player(), "serverType": "game"}
        return "POST", "/api/plugin/matchmaking/find", body

    def chat(self):
        return "POST", "/api/plugin/chat", {**LINE, "message": f"line {self.random.random()}"}

    def put(self):
        path = f"/api/plugin/players/{self.player()}/data/global/kit"
        return "PUT", path, {"data": '"' + "x" * self.random.randrange(2_000) + '"'}

    def get(self):
        return "GET", f"/api/plugin/players/{self.player()}/data/global/kit", None

    def pay(self):
        path = f"/api/plugin/economy/player/{self.player()}/currencies/modify"
        return "POST", path, {"currency": "coins", "amount": 1, "reason": "soak"}

    def ban(self):
        body = {"playerUuid": self.player(), "type": "BAN", "reason": "soak", "durationMs": 1_000}
        return "POST", "/api/plugin/punishments/create", body

    def player(self):
        return player(self.random.randrange(PLAYERS))

    def upload(self):
        return "PUT", "/api/manage/provisioning/bundles/game", self.random.randbytes(200_000)

    def mixed(self):
        """The next call, with the frequencies of a typical network."""
        calls = [self.find, self.chat, self.put, self.get, self.pay, self.heartbeat, self.ban, self.upload]
        return self.random.choices(calls, [20, 20, 15, 20, 15, 8, 1, 1])[0]()


class Soak:
    def __init__(self, hub, rate):
        self.hub, self.rate, self.is_over, self.is_up = hub, rate, False, threading.Event()
        self.statuses, self.faults = collections.Counter(), []

    def call(self, network, connection, method, path, body):
        born = self.hub.process.pid
        try:
            status, answer = self.hub.call(network.key, method, path, body, connection=connection)
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            if self.is_up.is_set() and born == self.hub.process.pid and not isinstance(error, ConnectionError):
                self.faults.append(f"{method} {path}: {error!r}")
            self.statuses[type(error).__name__] += 1
            time.sleep(0.1)
            return
        self.statuses[status] += 1
        if status >= 500:
            self.faults.append(f"{method} {path}: {status} {answer[:200]}")

    def run_caller(self, network):
        connection = http.client.HTTPConnection("127.0.0.1", self.hub.port, timeout=60)
        born = None
        while not self.is_over:
            self.is_up.wait()
            if born != self.hub.process.pid:
                born = self.hub.process.pid
                for number in range(SERVERS):
                    self.call(network, connection, *network.register(number))
            self.call(network, connection, *network.mixed())
            time.sleep(1 / self.rate)

    def run_listener(self, network, number):
        """Opens an event stream, reads for some seconds, closes it and opens another."""
        while not self.is_over:
            self.is_up.wait()
            try:
                with socket.create_connection(("127.0.0.1", self.hub.port), timeout=1) as stream:
                    path = f"/api/plugin/events?serverId=game-{number}"
                    stream.sendall(f"GET {path} HTTP/1.1\r\nHost: hub\r\nX-Service-Api-Key: {network.key}\r\n\r\n".encode())
                    end = time.monotonic() + network.random.uniform(2, 40)
                    while time.monotonic() < end and not self.is_over:
                        try:
                            if not stream.recv(65536):
                                break
                        except TimeoutError:
                            pass
            except OSError:
                time.sleep(0.5)

    def kill(self):
        self.is_up.clear()
        self.hub.process.send_signal(signal.SIGKILL)
        self.hub.process.wait()
        self.hub.start()
        self.is_up.set()

    def sample(self):
        process = pathlib.Path(f"/proc/{self.hub.process.pid}")
        status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
        data = pathlib.Path(self.hub.data)
        with sqlite3.connect(f"file:{data / 'hub.db'}?mode=ro", uri=True, timeout=10) as database:
            (outbox,) = database.execute("SELECT COUNT(*) FROM outbox").fetchone()
        return {
            "memory MiB": int(status["VmRSS"].split()[0]) / 1024,
            "files": len(list((process / "fd").iterdir())),
            "threads": int(status["Threads"]),
            "outbox rows": outbox,
            "temporary files": sum(path.is_file() for path in (data / "blobs" / "incoming").glob("*")),
        }


def growth(samples, name):
    """Growth of a series, and extrapolated to an hour: from the median of its first third to that of its last, which a peak
    does not move."""
    third = max(1, len(samples) // 3)
    parts = samples[:third], samples[-third:]
    first, last = [statistics.median(sample[name] for _, sample in part) for part in parts]
    began, ended = [statistics.median(at for at, _ in part) for part in parts]
    return last - first, (last - first) / max(1, ended - began) * 3600


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("hub")
    arguments.add_argument("seconds", type=float, nargs="?", default=1800)
    arguments.add_argument("--rate", type=float, default=15, help="calls a second of each of eight callers, at most")
    arguments.add_argument("--kills", type=float, help="seconds in which the hub is killed now and then")
    arguments = arguments.parse_args()
    kills = arguments.seconds / 3 if arguments.kills is None else arguments.kills
    with tempfile.TemporaryDirectory() as folder:
        hub = Hub(arguments.hub, folder)
        hub.start()
        soak = Soak(hub, arguments.rate)
        try:
            failures = run(hub, soak, arguments.seconds, kills)
        finally:
            soak.is_over = True
            soak.is_up.set()
            hub.process.kill()
            hub.process.wait()
    for failure in failures:
        print("FAILED:", failure)
    raise SystemExit(bool(failures))


def run(hub, soak, seconds, kills_for):
    networks = [Network(hub, name) for name in ("one", "two")]
    for network in networks:
        network.prepare()
    soak.is_up.set()
    works = [(soak.run_caller, (network,)) for network in networks for _ in range(4)]
    works += [(soak.run_listener, (network, number)) for network in networks for number in range(STREAMS // 2)]
    threads = [threading.Thread(target=work, args=of, daemon=True) for work, of in works]
    for thread in threads:
        thread.start()
    started = time.monotonic()
    killed, kills, samples = started, 0, []
    while (now := time.monotonic()) < started + seconds:
        if now - started < kills_for and now - killed > KILL_EVERY:
            soak.kill()
            killed, kills, samples = time.monotonic(), kills + 1, []
        time.sleep(SAMPLE_EVERY)
        sample = soak.sample()
        samples.append((time.monotonic() - started, sample))
        shown = ", ".join(f"{name} {value:.0f}" for name, value in sample.items())
        print(f"{time.monotonic() - started:5.0f} s: {shown}, calls {soak.statuses.total()}", flush=True)
    soak.is_over = True
    for thread in threads:
        thread.join()
    print(f"{kills} kills; answers: {dict(soak.statuses)}")
    # The caches fill up, and the allocator reaches its size, in the first quarter.
    steady = samples[len(samples) // 4 :]
    failures = soak.faults[:20]
    for name, (allowed, noise) in ALLOWED.items():
        grown, hourly = growth(steady, name)
        print(f"{name}: {steady[0][1][name]:.0f} to {steady[-1][1][name]:.0f}, {hourly:+.1f} an hour (allowed {allowed})")
        if hourly > allowed and grown > noise:
            failures.append(f"{name} grows by {hourly:.1f} an hour")
    time.sleep(5)
    left = soak.sample()["outbox rows"]
    return failures + ([f"{left} events still wait"] if left else [])


if __name__ == "__main__":
    main()
