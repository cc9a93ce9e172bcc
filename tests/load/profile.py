"""Shows a hub's computing time by component during a job of rows.py.

python3 tests/load/profile.py HUB [--seconds S] [--connections C] [ROW …]

HUB is a hub's executable with its functions' names, which CARGO_PROFILE_RELEASE_STRIP=none keeps. Prints for each row the
processor time of a request, measured without the profiler, and how the profiler's samples share it out. Needs perf and wrk.
"""

import argparse
import collections
import os
import pathlib
import re
import resource
import subprocess
import tempfile

import rows
from hub import Hub

# Component of a function, by its name: the first match.
PARTS = [
    ("kernel: sockets, threads", r"^\[k\]"),
    ("module's own code", r"\[JIT\]|0x0000"),
    ("memory: copies, allocation", r"\b__mem|\bmi_|malloc|_alloc|dealloc"),
    ("sandbox: wasmtime", r"wasmtime|cranelift|hub_sandbox"),
    ("matchmaking, presence", r"hub::(matchmaking|servers|sessions|geo)"),
    ("modules: records, logs, limits", r"hub::modules"),
    ("log", r"tracing|crossbeam_channel|cli::log"),
    ("database", r"sqlx|sqlite|hub_db|^\[\.\] (sqlite3|vdbe|btree|pcache)"),
    ("JSON", r"serde"),
    ("HTTP: hyper, axum", r"hyper|http|axum|tower|matchit"),
    ("tokio", r"tokio|mio::"),
    ("hub's layers: keys, limits, answers", r"hub::"),
]
REST = "standard library and others"


def samples(hub, seconds, file):
    """Samples the hub; to be called while it works."""
    command = ["perf", "record", "-q", "-e", "cpu-clock", "-F", "4999", "-o", file, "-p", str(hub.process.pid), "--",
               "sleep", str(seconds)]
    return subprocess.Popen(command, stderr=subprocess.DEVNULL)


def shares(file):
    command = ["perf", "report", "-i", file, "--stdio", "--sort", "symbol"]
    report = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = collections.Counter()
    for percent, name in re.findall(r"^ *([\d.]+)% +(\S.*?)\s*$", report, re.MULTILINE):
        part = next((part for part, pattern in PARTS if re.search(pattern, name)), REST)
        found[part] += float(percent)
    return found


def profile(hub, key, row, seconds, connections, file):
    job, prepare, _ = rows.ROWS[row]
    if prepare:
        prepare(hub, key)
    rows.run_wrk(hub, key, job, rows.WARM_UP, connections)
    rate, *_, used = rows.run_wrk(hub, key, job, seconds, connections)
    profiler = samples(hub, seconds, file)
    rows.run_wrk(hub, key, job, seconds + 1, connections)
    profiler.wait()
    found = shares(file)
    print(f"{row}: {rate:.0f}/s, {used:.1f} µs of processor time each")
    for part, share in found.most_common():
        print(f"  {used * share / sum(found.values()):6.1f} µs  {part}")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("hub")
    arguments.add_argument("--seconds", type=int, default=5)
    arguments.add_argument("--connections", type=int, default=16)
    arguments.add_argument("rows", nargs="*", metavar="ROW", default=["find-100", "find-module-100", "data-get"])
    given = arguments.parse_intermixed_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    os.environ["HUB_OFFLINE_AFTER"] = "3600000"
    for row in given.rows:
        with tempfile.TemporaryDirectory() as data:
            hub = Hub(given.hub, data, [])
            hub.database = None
            hub.start()
            try:
                profile(hub, hub.network("rows"), row, given.seconds, given.connections,
                        str(pathlib.Path(data) / "perf.data"))
            finally:
                hub.stop()


if __name__ == "__main__":
    main()
