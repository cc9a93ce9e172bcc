"""Measures gain and cost of several nodes. Called by scripts/scaling, which starts PostgreSQL.

python3 tests/load/scaling.py HUB POSTGRES-URL FOLDER. Needs root, wrk and nats-server.
"""

import concurrent.futures
import http.client
import json
import os
import pathlib
import re
import selectors
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
import urllib.request

from hub import free_port

HUB, POSTGRES, FOLDER = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
LUA = pathlib.Path(__file__).with_name("scaling.lua")
# Of a processor, for each node: three nodes, the database, NATS and the load share a small machine.
CPU_SHARE = 0.2
NETWORKS, SERVERS, STREAMS, SECONDS, ROUNDS = 60, 10, 10, 6, 3


def limit_cpu(process, share):
    """Limits a process to a share of one processor; returns its cgroup."""
    period = 20_000
    quota = int(period * share)
    version_1 = pathlib.Path("/sys/fs/cgroup/cpu")
    folder = (version_1 if version_1.is_dir() else pathlib.Path("/sys/fs/cgroup")) / f"hub-scaling-{process.pid}"
    folder.mkdir()
    if version_1.is_dir():
        (folder / "cpu.cfs_period_us").write_text(str(period))
        (folder / "cpu.cfs_quota_us").write_text(str(quota))
    else:
        (folder / "cpu.max").write_text(f"{quota} {period}")
    (folder / "cgroup.procs").write_text(str(process.pid))
    return folder


class Fleet:
    """Nodes on a database of their own."""

    def __init__(self, name, nodes, share=None, bus=True):
        admin = POSTGRES.rsplit("/", 1)[0]
        subprocess.run(["psql", "-q", POSTGRES, "-c", f"CREATE DATABASE {name}"], check=True)
        self.database = f"{admin}/{name}"
        self.folder = FOLDER / name
        self.nats_port, self.monitor_port = free_port(), free_port()
        command = ["nats-server", "-p", self.nats_port, "-m", self.monitor_port, "-js", "-sd", self.folder / "nats"]
        self.nats = subprocess.Popen([str(part) for part in command], stderr=subprocess.DEVNULL)
        time.sleep(1)
        self.ports = [free_port() for _ in range(nodes)]
        self.nodes, self.cgroups = [], []
        for number, port in enumerate(self.ports):
            command = [HUB, "serve", "--listen", f"127.0.0.1:{port}", "--database", self.database]
            command += ["--data", self.folder / f"node-{number}"]
            command += ["--bus", f"nats://127.0.0.1:{self.nats_port}", "--blobs", self.folder / "blobs"] if bus else []
            node = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.nodes.append(node)
            self.wait_until_ready(port)
        if nodes > 1:
            # Shards are balanced over the nodes, 16 of 256 a second.
            time.sleep(12)
        if share:
            self.cgroups = [limit_cpu(node, share) for node in self.nodes]

    def wait_until_ready(self, port):
        while True:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", port)
                connection.request("GET", "/readyz")
                if connection.getresponse().status == 200:
                    return
            except OSError:
                pass
            time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in [*self.nodes, self.nats]:
            process.send_signal(signal.SIGKILL)
            process.wait()
        for cgroup in self.cgroups:
            cgroup.rmdir()

    def create_networks(self, count):
        """Creates networks; returns their keys."""
        def create(number):
            command = [HUB, "admin", "network", "create", f"network-{number}", "--json", "--database", self.database]
            command += ["--data", self.folder / "cli"]
            return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["apiKey"]

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            return list(pool.map(create, range(count)))

    def post_all(self, requests):
        """Sends (key, path, body) over four connections, spread over the nodes."""
        requests = list(requests)

        def post_every_fourth(first):
            connection = http.client.HTTPConnection("127.0.0.1", self.ports[first % len(self.ports)], timeout=60)
            for key, path, body in requests[first::4]:
                headers = {"Content-Type": "application/json", "X-Service-Api-Key": key}
                connection.request("POST", path, json.dumps(body), headers)
                answer = connection.getresponse()
                text = answer.read()
                assert answer.status < 300, (path, answer.status, text)

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(post_every_fourth, range(4)))

    def register_servers(self, keys, servers, max_players=1_000_000_000):
        self.post_all(
            (key, "/api/plugin/servers/register",
             {"serverId": f"game-{number}", "serverType": "game", "host": "10.0.0.1", "port": 25565, "maxPlayers": max_players})
            for key in keys for number in range(1, servers + 1)
        )

    def run_wrk(self, job, keys, seconds=SECONDS, connections=32, by_network=False):
        """Sends requests of any network to any node, or `by_network`, like a balancer that hashes the first characters of
        keys. Returns requests a second of all nodes together, and their number."""
        def keys_of(node):
            return [key for key in keys if not by_network or int(key[4:6], 16) % len(self.ports) == node]

        running = [
            subprocess.Popen(
                ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", LUA, f"http://127.0.0.1:{port}"],
                env=dict(os.environ, JOB=job, KEYS=",".join(keys_of(node))), stdout=subprocess.PIPE, text=True)
            for node, port in enumerate(self.ports)
        ]
        rate = total = 0
        for process in running:
            requests, micros, errors = map(int, re.search(r"RESULT (\d+) (\d+) (\d+)", process.communicate()[0]).groups())
            assert errors == 0, (job, errors)
            total += requests
            rate += requests * 1e6 / micros
        return rate, total

    def bus_messages(self):
        """The number of messages NATS received and sent."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.monitor_port}/varz") as answer:
            statistics = json.load(answer)
        return statistics["in_msgs"], statistics["out_msgs"]

    def cpu_seconds(self):
        """Processor time of all nodes."""
        def seconds(node):
            fields = pathlib.Path(f"/proc/{node.pid}/stat").read_text().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return sum(map(seconds, self.nodes))

    def memory_kib(self, node=0):
        """Resident memory of a node."""
        return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{self.nodes[node].pid}/status").read_text())[1])


class Streams:
    """Open event streams, spread over the nodes; one thread reads them and counts events."""

    def __init__(self, fleet, keys, each):
        self.selector, self.events, self.sockets = selectors.DefaultSelector(), 0, []
        for number, key in enumerate(key for key in keys for _ in range(each)):
            stream = socket.create_connection(("127.0.0.1", fleet.ports[number % len(fleet.ports)]))
            stream.sendall(f"GET /api/plugin/events HTTP/1.1\r\nHost: hub\r\nX-Service-Api-Key: {key}\r\n\r\n".encode())
            self.selector.register(stream, selectors.EVENT_READ)
            self.sockets.append(stream)
        self.stopped = False
        self.thread = threading.Thread(target=self.read)
        self.thread.start()
        time.sleep(2)

    def read(self):
        while not self.stopped:
            for ready, _ in self.selector.select(0.2):
                self.events += ready.fileobj.recv(1 << 18).count(b"event: CHAT")

    def close(self):
        self.stopped = True
        self.thread.join()
        for stream in self.sockets:
            stream.close()


def measure_throughput():
    print(f"\nRequests a second, each node on {CPU_SHARE:.0%} of a processor ({NETWORKS} networks), medians of {ROUNDS} rounds\n")
    print("| nodes | heartbeat | find | currency modify | chat line | chat events delivered a second, "
          f"{STREAMS} streams a network |\n|---|---:|---:|---:|---:|---:|")
    kinds = [(1, False, False), (1, True, False), (2, True, False), (2, True, True), (3, True, False), (3, True, True)]
    rounds = [[throughput(number, *kind) for kind in kinds] for number in range(ROUNDS)]
    for (nodes, bus, by_network), rows in zip(kinds, zip(*rounds)):
        name = f"{nodes}" + (", without a bus" if not bus else ", by network" if by_network else "")
        print(f"| {name} | " + " | ".join(f"{statistics.median(values):,.0f}" for values in zip(*rows)) + " |", flush=True)


def throughput(number, nodes, bus, by_network):
    """Requests a second of each job, and events delivered a second."""
    name = f"throughput_{number}_{nodes}_{bus}_{by_network}".lower()
    with Fleet(name, nodes, CPU_SHARE, bus) as fleet:
        keys = fleet.create_networks(NETWORKS)
        fleet.register_servers(keys, SERVERS)
        if by_network:
            # Shards move to where their requests arrived in a window of 10 s.
            fleet.run_wrk("heartbeat", keys, 30, by_network=True)
        jobs = ["heartbeat", "find", "modify", "chat"]
        row = [fleet.run_wrk(job, keys, by_network=by_network)[0] for job in jobs]
        streams = Streams(fleet, keys, STREAMS)
        before, started = streams.events, time.monotonic()
        fleet.run_wrk("chat", keys, by_network=by_network)
        row.append((streams.events - before) / (time.monotonic() - started))
        streams.close()
        print(f"{name}: " + ", ".join(f"{value:,.0f}" for value in row), file=sys.stderr, flush=True)
        return row


def measure_bus():
    print("\nMessages on the bus and processor time of the nodes, three nodes\n")
    print("| of each | messages to NATS | from NATS | processor time |\n|---|---:|---:|---:|")
    with Fleet("messages", 3) as fleet:
        keys = fleet.create_networks(NETWORKS)
        fleet.register_servers(keys, SERVERS)
        time.sleep(3)
        (received, sent), cpu = fleet.bus_messages(), fleet.cpu_seconds()
        time.sleep(10)
        (received_after, sent_after), cpu_after = fleet.bus_messages(), fleet.cpu_seconds()
        idle = ((received_after - received) / 10, (sent_after - sent) / 10, (cpu_after - cpu) / 10)
        print(f"| second without requests | {idle[0]:.1f} | {idle[1]:.1f} | {idle[2] * 1e3:.0f} ms |")

        def row(name, job, streams):
            open_streams = Streams(fleet, keys, streams)
            (received, sent), cpu, started = fleet.bus_messages(), fleet.cpu_seconds(), time.monotonic()
            _, count = fleet.run_wrk(job, keys, 4, 8)
            time.sleep(1)
            (received_after, sent_after), cpu_after = fleet.bus_messages(), fleet.cpu_seconds()
            seconds = time.monotonic() - started
            open_streams.close()

            def per_request(after, before, idle):
                return (after - before - idle * seconds) / count

            print(f"| {name} | {per_request(received_after, received, idle[0]):.2f} | "
                  f"{per_request(sent_after, sent, idle[1]):.2f} | "
                  f"{per_request(cpu_after, cpu, idle[2]) * 1e6:.0f} µs |", flush=True)

        row("heartbeat", "heartbeat", 0)
        row("find", "find", 0)
        row("chat line, nobody listens", "chat", 0)
        row("chat line, a stream at one node", "chat", 1)
        row("chat line, a stream at each node", "chat", 3)
        row("chat line, ten streams at each node", "chat", 30)


def measure_memory():
    networks, servers, players, streams = 500, 20, 50, 5000
    print(f"\nMemory of one node: {networks} networks, {networks * servers:,} servers, "
          f"{networks * servers * players:,} players online, {streams:,} streams\n")
    print("| | MiB | more for each |\n|---|---:|---:|")
    with Fleet("memory", 1) as fleet:
        last = fleet.memory_kib()
        print(f"| started | {last / 1024:.0f} | |")
        keys = fleet.create_networks(networks)

        def row(name, count):
            nonlocal last
            time.sleep(3)
            now = fleet.memory_kib()
            print(f"| {name} | {now / 1024:.0f} | {(now - last) * 1024 / count:,.0f} bytes |", flush=True)
            last = now

        fleet.register_servers(keys, 1, 1000)
        row("networks, of one server each", networks)
        fleet.register_servers(keys, servers, 1000)
        row("servers", networks * (servers - 1))
        fleet.post_all(
            (key, "/api/plugin/servers/heartbeat",
             {"serverId": f"game-{server}", "serverType": "game", "gameState": "WAITING", "playersToStart": 0,
              "worlds": [], "players": [
                  {"uuid": f"{network:08x}-{server:04x}-4000-8000-{player:012x}", "name": f"player_{player}"}
                  for player in range(players)]})
            for network, key in enumerate(keys) for server in range(1, servers + 1)
        )
        row("players", networks * servers * players)
        opened = Streams(fleet, keys, streams // networks)
        row("streams", streams)
        opened.close()


if __name__ == "__main__":
    measure_throughput()
    measure_bus()
    measure_memory()
