"""Measures the hub's speed under the busiest loads of games, each job beside its reference in the same sitting.

python3 tests/load/bench.py HUB BASELINE POSTGRES FOLDER [--seconds S] [--rounds R] [--only PART] [--before HUB] [--growth]

HUB and BASELINE are the executables of `hub` and of its example `baseline`, POSTGRES is the URL of a PostgreSQL in which it
makes databases. `--before` names an earlier executable of `hub`, which `find` is compared with. Writes a table to FOLDER/results.md, and with --growth plots to FOLDER/*.svg. Needs wrk, psql and, for plots,
matplotlib. `scripts/bench` calls it with all of that.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import platform
import resource
import socket
import statistics
import subprocess
import tempfile
import time

import rows
from hub import ROOT, Hub, free_port, request

CONNECTIONS = 32
MODULE_CONNECTIONS = 16
# Connections of jobs whose requests follow one another, each a thread of wrk.
PAIRS = 16
# Time over which the work of a hub that has nothing to do is measured.
IDLE_SECONDS = 30
SQLITE, POSTGRES = "SQLite", "PostgreSQL"


@dataclasses.dataclass
class Job:
    """A job of mix.lua, at the hub with this key or at the bare program."""

    name: str
    key: str | None
    environment: dict = dataclasses.field(default_factory=dict)
    threads: int = 2


@dataclasses.dataclass
class Result:
    job: str
    database: str
    rate: float | None
    p99: float | None
    reference: str
    figure: str
    target: str
    is_met: bool


class Sitting:
    """A hub, the bare program and a database of their own for each row."""

    def __init__(self, given):
        self.given, self.results, self.made = given, [], 0

    @contextlib.contextmanager
    def hub(self, database, program=None):
        options, url = [], None
        if database == POSTGRES:
            self.made += 1
            name = f"bench_{os.getpid()}_{self.made}"
            psql(self.given.postgres, f"CREATE DATABASE {name}")
            url = f"{self.given.postgres.rsplit('/', 1)[0]}/{name}"
            options = ["--database", url]
        with tempfile.TemporaryDirectory() as data:
            hub = Hub(program or self.given.hub, data, options)
            hub.database = url
            hub.start()
            try:
                yield hub
            finally:
                hub.stop()
                if url:
                    psql(self.given.postgres, f"DROP DATABASE {name}")

    @contextlib.contextmanager
    def bare(self):
        port = free_port()
        with tempfile.TemporaryDirectory() as data:
            command = [self.given.baseline, f"127.0.0.1:{port}", f"sqlite:{data}/bare.db"]
            process = subprocess.Popen(command, stdout=subprocess.PIPE)
            process.stdout.readline()
            bare = Bare(process, port)
            try:
                yield bare
            finally:
                process.kill()
                process.wait()

    def run(self, at, job, connections):
        return rows.run_wrk(at, job.key, job.name, self.given.seconds, connections, job.threads, **job.environment)

    def compare(self, name, database, measured, reference, connections, reference_name, target):
        """Measures two jobs in turn; `measured` and `reference` are (hub or bare program, job)."""
        measurements, ratios = [], []
        for _ in range(self.given.rounds):
            base = self.run(*reference, connections)
            measurements.append(self.run(*measured, connections))
            ratios.append(measurements[-1][0] / base[0])
        rate, p99 = median(measurements)
        ratio = statistics.median(ratios)
        figure, is_met = with_errors(f"{ratio:.2f}", ratio >= target, measurements)
        self.add(Result(name, database, rate, p99, reference_name, figure, f"≥ {target:.2f}", is_met))

    def measure(self, name, database, at, job, connections, target_rate, target_p99=None):
        measurements = [self.run(at, job, connections) for _ in range(self.given.rounds)]
        rate, p99 = median(measurements)
        is_met = rate >= target_rate and (target_p99 is None or p99 < target_p99)
        target = f"≥ {target_rate:,}/s" + (f", p99 < {target_p99} ms" if target_p99 else "")
        figure, is_met = with_errors(f"{rate:,.0f}/s", is_met, measurements)
        self.add(Result(name, database, rate, p99, "", figure, target, is_met))

    def add(self, result):
        self.results.append(result)
        print(row_of(result), flush=True)


@dataclasses.dataclass
class Bare:
    process: subprocess.Popen
    port: int


def psql(url, statement):
    subprocess.run(["psql", "-q", url, "-c", statement], check=True)


def median(measurements):
    """The medians of the rates and of the 99th percentiles."""
    return statistics.median(one[0] for one in measurements), statistics.median(one[2] for one in measurements)


def with_errors(figure, is_met, measurements):
    """A figure, and true if it meets its target: not if requests were answered with errors."""
    errors = sum(measurement[3] for measurement in measurements)
    return (f"{figure}, {errors} errors", False) if errors else (figure, is_met)


def row_of(result):
    rate = "" if result.rate is None else f"{result.rate:,.0f}"
    p99 = "" if result.p99 is None else f"{result.p99:.1f} ms"
    met = "yes" if result.is_met else "**no**"
    fields = [result.job, result.database, rate, p99, result.reference, result.figure, result.target, met]
    return "| " + " | ".join(fields) + " |"


def against_bare(sitting):
    # The load is a proxy's, with requests of many clients.
    os.environ["HUB_TRUSTED_PROXIES"] = "127.0.0.1/32"
    with sitting.hub(SQLITE) as hub, sitting.bare() as bare:
        del os.environ["HUB_TRUSTED_PROXIES"]
        key = hub.network("bench")
        rows.busy_server(hub, key)
        for name, job, reference, target in [
            ("`GET /api/version`", "version", "text", 0.8),
            ("heartbeat with 50 players and 5 worlds", "busy-heartbeat", "bare-heartbeat", 0.6),
        ]:
            sitting.compare(name, SQLITE, (hub, Job(job, key)), (bare, Job(reference, None)), CONNECTIONS,
                            f"bare axum, {reference}", target)


def against_documents(sitting):
    for database in (SQLITE, POSTGRES):
        with sitting.hub(database) as hub:
            key = hub.network("bench")
            rows.players(hub, key)
            for name, job, reference, target in [
                ("currency modify", "modify", "data-put", 0.6),
                ("statistics increment", "increment", "data-put", 0.8),
                ("profile", "profile", "data-get", 0.8),
            ]:
                sitting.compare(name, database, (hub, Job(job, key)), (hub, Job(reference, key)), CONNECTIONS,
                                reference, target)


def finds(sitting):
    with sitting.hub(SQLITE) as hub:
        few, many = hub.network("few"), hub.network("many")
        rows.register(hub, few, 100)
        rows.register(hub, many, 1000)
        sitting.measure("find, built-in policy, 100 servers", SQLITE, hub, Job("find", few), CONNECTIONS, 45_000)
        sitting.compare("find, built-in policy, 1,000 servers", SQLITE, (hub, Job("find", many)), (hub, Job("find", few)),
                        CONNECTIONS, "100 servers", 0.7)
    if sitting.given.before:
        with sitting.hub(SQLITE) as hub, sitting.hub(SQLITE, sitting.given.before) as before:
            now, earlier = hub.network("few"), before.network("few")
            for at, key in [(hub, now), (before, earlier)]:
                rows.register(at, key, 100)
            sitting.compare("find, 100 servers, nobody waits", SQLITE, (hub, Job("find", now)), (before, Job("find", earlier)),
                            CONNECTIONS, "the hub before", 0.97)


def sessions(sitting):
    """A session is opened and saved, beside a load and a PUT. Figures are inverse costs: 1.3 times as much is 0.77."""
    for database in (SQLITE, POSTGRES):
        with sitting.hub(database) as hub:
            key = hub.network("bench")
            rows.players(hub, key)
            for name, job, reference in [
                ("session: open and save", "session", "load-put"),
                ("session: open and save what changed, with its snapshot", "session-changed", "load-put-changed"),
            ]:
                sitting.compare(name, database, (hub, Job(job, key, threads=PAIRS)), (hub, Job(reference, key, threads=PAIRS)),
                                PAIRS, "load and PUT", 1 / 1.3)


def chat(sitting):
    """A line that is kept for staff, beside one that is not."""
    for database in (SQLITE, POSTGRES):
        with sitting.hub(database) as hub:
            kept, unkept = hub.network("kept"), hub.network("unkept")
            for key, days in [(kept, 7), (unkept, 0)]:
                hub.expect(key, "PATCH", "/api/manage/network", {"chatHistoryDays": days})
            sitting.compare("chat line that is kept", database, (hub, Job("chat", kept)), (hub, Job("chat", unkept)),
                            MODULE_CONNECTIONS, "a line that is not", 0.9)
            total = json.loads(hub.expect(kept, "GET", "/api/manage/chat?limit=1"))["total"]
            print(f"  {total:,} lines are kept (counted up to 100,000)", flush=True)


def waiting(sitting):
    """Tickets in lines in which nothing happens."""
    for database in (SQLITE, POSTGRES):
        with sitting.hub(database) as hub:
            key = hub.network("bench")
            rows.waiting_servers(hub, key)
            # As connectors listen.
            stream = socket.create_connection(("127.0.0.1", hub.port))
            path = "/api/plugin/events?serverId=lobby&types=TICKET_UPDATED,TICKET_MATCHED"
            stream.sendall(request(key, "GET", path))
            time.sleep(5)
            before = rows.share_of_a_core(hub, IDLE_SECONDS)
            rows.wait_in_lines(hub, key)
            # Their places are told first, those beyond 20 within ten seconds.
            time.sleep(15)
            used = rows.share_of_a_core(hub, IDLE_SECONDS) - before
            stream.close()
        name = f"{rows.TICKETS:,} tickets in {rows.LINES} lines while nothing happens"
        sitting.add(Result(name, database, None, None, "nobody waits", f"{used:.2f} % of a core", "< 1 %", used < 1))


def modules(sitting):
    for servers, target, p99 in [(100, 12_000, 10), (1000, 5_000, None)]:
        with sitting.hub(SQLITE) as hub:
            key = hub.network("bench")
            rows.module(hub, key, servers)
            sitting.measure(f"find through a Rust module, {servers:,} candidates", SQLITE, hub, Job("find", key),
                            MODULE_CONNECTIONS, target, p99)
            point = json.loads(hub.expect(key, "GET", "/api/manage/extension-points/matchmaking"))
            link = point["modules"][0]
            print(f"  breaker {link['breaker']}, {link['failures']} of {link['calls']} calls failed", flush=True)


def filters(sitting):
    """A chat line through a filter. The interpreted ones are begun and built as an author would."""
    with sitting.hub(SQLITE) as hub:
        for language, target in [("rust", 12_000), ("js", 3_000), ("python", 1_500)]:
            key = hub.network(language)
            with tempfile.TemporaryDirectory() as folder:
                if language == "rust":
                    wasm, name = ROOT / "plugins/chat-guard/chat-guard.wasm", "chat-guard"
                else:
                    name = f"{language}-filter"
                    path = pathlib.Path(folder) / name
                    new = [sitting.given.hub, "module", "new", name, "--lang", language, "--point", "chat", "--dir", path]
                    subprocess.run(new, check=True, stdout=subprocess.DEVNULL)
                    subprocess.run([sitting.given.hub, "module", "build"], cwd=path, check=True, stdout=subprocess.DEVNULL)
                    wasm = path / f"{name}.wasm"
                # Without the store of the template for each line: a filter alone.
                link = {} if language == "rust" else {"instances": "REUSED", "config": {"repeatMs": 0}}
                rows.activate(hub, key, name, wasm, "chat", **link)
            kind = "" if language == "rust" else ", REUSED"
            sitting.measure(f"chat line through a filter in {language}{kind}", SQLITE, hub, Job("chat", key),
                            MODULE_CONNECTIONS, target)


def leaderboards(sitting):
    for database in (SQLITE, POSTGRES):
        for count in (1_000, 1_000_000):
            with sitting.hub(database) as hub:
                key = hub.network("bench")
                rows.leaderboard(rows.CURRENCY_RANKS, count)(hub, key)
                updater = rows.update(hub, key, "modify", (sitting.given.seconds + 1) * sitting.given.rounds + 1)
                sitting.measure(f"top 100, {count:,} rows, 1,000 changes a second", database, hub, Job("currency-top", key),
                                CONNECTIONS, 8_000, 5)
                updater.kill()
                updater.wait()


def memory(sitting):
    with sitting.hub(SQLITE) as hub:
        empty, stream = rows.memory(hub)
    sitting.add(Result("memory of an empty hub", SQLITE, None, None, "", f"{empty:.0f} MB", "≤ 30 MB", empty <= 30))
    sitting.add(Result("memory of an open stream", SQLITE, None, None, "", f"{stream:.1f} kB", "≤ 12 kB", stream <= 12))


PARTS = {
    "bare": against_bare,
    "documents": against_documents,
    "find": finds,
    "sessions": sessions,
    "chat": chat,
    "waiting": waiting,
    "modules": modules,
    "filters": filters,
    "leaderboards": leaderboards,
    "memory": memory,
}


def growth(sitting, folder):
    """Plots of a rate by the amount of data, in steps of ten."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "bench"
    import matplotlib.pyplot as plt

    def plot(file, title, label, counts, rates):
        figure, axes = plt.subplots(figsize=(6, 3.2))
        for name, values in rates.items():
            axes.plot(counts, values, marker="o", label=name)
        axes.set(xscale="log", xlabel=label, ylabel="requests a second", title=title, ylim=(0, None))
        axes.grid(alpha=0.3)
        axes.legend()
        figure.tight_layout()
        figure.savefig(folder / f"{file}.svg", metadata={"Date": None})
        plt.close(figure)
        print(title, counts, rates, flush=True)

    def rate(hub, job):
        return sitting.run(hub, job, CONNECTIONS)[0]

    # A network has 1,000 servers at most (docs/reference/limits.md).
    counts = [10, 100, 1_000]
    with sitting.hub(SQLITE) as hub:
        found, beaten = [], []
        for count in counts:
            key = hub.network(f"servers-{count}")
            rows.register(hub, key, count)
            environment = {"SERVERS": str(count)}
            found.append(rate(hub, Job("find", key, environment)))
            beaten.append(rate(hub, Job("heartbeat", key, environment)))
        plot("servers", "Servers in a network", "servers", counts, {"find": found, "heartbeat": beaten})

    counts = [1_000, 10_000, 100_000, 1_000_000]
    for database in (SQLITE, POSTGRES):
        top, modified = [], []
        for count in counts:
            with sitting.hub(database) as hub:
                key = hub.network("players")
                rows.leaderboard(rows.CURRENCY_RANKS, count)(hub, key)
                top.append(rate(hub, Job("currency-top", key)))
                modified.append(rate(hub, Job("modify", key)))
        rates = {"top 100": top, "currency modify": modified}
        plot(f"players-{database.lower()}", f"Players with a balance, {database}", "players", counts, rates)

    counts = [1, 10, 100, 1_000, 10_000]
    with sitting.hub(SQLITE) as hub:
        operator = hub.operator_key()
        found, written, made = [], [], 0
        key = hub.network("measured")
        rows.register(hub, key, 20)
        for count in counts:
            while made < count:
                hub.expect(operator, "POST", "/api/admin/networks", {"name": f"other-{made}"})
                made += 1
            found.append(rate(hub, Job("find", key)))
            written.append(rate(hub, Job("data-put", key)))
        plot("networks", "Other networks of the hub", "networks", counts, {"find": found, "data PUT": written})

    counts = [100, 1_000, 10_000]
    each = []
    for count in counts:
        with sitting.hub(SQLITE) as hub:
            each.append(rows.memory(hub, count)[1])
    figure = {"memory of a stream, kB": each}
    plot("streams", "Open event streams", "streams", counts, figure)


def machine():
    model = next((line.split(":")[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.machine())
    return f"{os.cpu_count()} × {model}"


def write(sitting, folder):
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=ROOT).stdout.strip()
    head = (f"{time.strftime('%Y-%m-%d')}, commit {commit}, {machine()}, `scripts/bench`: {sitting.given.seconds} s, "
            f"{sitting.given.rounds} times each, in turn with its reference; medians.\n\n"
            "| job | database | requests/s | p99 | reference | figure | target | met |\n|---|---|---:|---:|---|---:|---:|---|\n")
    (folder / "results.md").write_text("# Results\n\n" + head + "\n".join(map(row_of, sitting.results)) + "\n")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("hub")
    arguments.add_argument("baseline")
    arguments.add_argument("postgres")
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("--seconds", type=int, default=5)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--only", choices=PARTS, action="append")
    arguments.add_argument("--before", metavar="HUB")
    arguments.add_argument("--growth", action="store_true")
    given = arguments.parse_args()
    # Modules are built in folders of their own.
    given.hub = os.path.abspath(given.hub)
    given.before = given.before and os.path.abspath(given.before)
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    # Servers that are registered once stay online.
    os.environ["HUB_OFFLINE_AFTER"] = "3600000"
    given.folder.mkdir(parents=True, exist_ok=True)
    sitting = Sitting(given)
    for part in given.only or PARTS:
        PARTS[part](sitting)
        write(sitting, given.folder)
    if given.growth:
        growth(sitting, given.folder)


if __name__ == "__main__":
    main()
