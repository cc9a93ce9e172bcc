"""Measures the cost of modules from outside a hub: a restart with a hundred of them, chains swapped under load, and a noisy
neighbor that uploads without a pause.

python3 tests/load/modules.py HUB [MODULE …], where HUB is the hub's executable. Needs nothing but Python, and root to
detect when the virtual machine itself was paused. The noisy neighbor also uploads the MODULEs: the example `noisy_neighbor
write FOLDER` of hub-sandbox writes hostile ones.
"""

import collections
import http.client
import json
import multiprocessing
import os
import pathlib
import statistics
import sys
import tempfile
import time

from hub import LINE, ROOT, Hub, chat_request, p99_ms, payment_request, run_caller

NETWORKS, MODULES = 10, 10
CALLERS, CHAT_RATE, PAYMENT_RATE, SECONDS = 4, 500, 200, 8
ROUNDS = 5


def unique_copy(component, mark, padding=0):
    """The component with one more custom section, so that its bytes are unlike any other's."""
    payload = bytes([4]) + b"mark" + mark.to_bytes(4, "little") + bytes(padding)
    size, left = bytearray(), len(payload)
    while left > 127:
        size.append(left & 127 | 128)
        left >>= 7
    return component + bytes([0]) + bytes(size) + bytes([left]) + payload


def measure_restart(hub, component):
    keys = [hub.network(f"network-{number}") for number in range(NETWORKS)]
    for number, key in enumerate(keys):
        for module in range(MODULES):
            hub.upload(key, f"guard-{module}", unique_copy(component, number * MODULES + module))
        hub.set_chain(key, [{"name": f"guard-{module}", "version": 1} for module in range(MODULES)])
        hub.expect(key, "POST", "/api/plugin/chat", LINE)
    ready, first, all_ready = [], [], []
    for _ in range(5):
        hub.stop()
        started = time.perf_counter()
        ready.append(hub.start())
        for key in keys:
            asked = time.perf_counter()
            hub.expect(key, "POST", "/api/plugin/chat", LINE)
            first.append(time.perf_counter() - asked)
        all_ready.append(time.perf_counter() - started)
    for key in keys:
        for link in json.loads(hub.expect(key, "GET", "/api/manage/extension-points/chat"))["modules"]:
            assert (link["calls"], link["failures"]) == (1, 0), link
    print(f"restart with {NETWORKS * MODULES} modules, 5 times, medians:")
    print(f"  start to /readyz                                {statistics.median(ready) * 1000:6.0f} ms")
    print(f"  first call of a network, {MODULES} modules in a chain    {statistics.median(first) * 1000:6.1f} ms")
    print(f"  start until every network's first call is done  {statistics.median(all_ready) * 1000:6.0f} ms")


def detect_pauses(cpu, results):
    """Puts into `results` the pauses of the machine: times when a thread of the highest priority, on one CPU, woke up late."""
    os.sched_setaffinity(0, {cpu})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    pauses, last, end = [], time.perf_counter(), time.perf_counter() + SECONDS + 1
    while last < end:
        time.sleep(0.0005)
        now = time.perf_counter()
        if now - last > 0.0012:
            pauses.append((last + 0.0005, now))
        last = now
    results.put(pauses)


def without_pauses(pauses, latencies):
    """The latencies minus the time in which the machine was paused."""
    merged = []
    for start, end in sorted(pauses):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(end, merged[-1][1])
        else:
            merged.append([start, end])

    def paused(due, latency):
        return sum(max(0, min(end, due + latency) - max(start, due)) for start, end in merged)

    return [(due, latency - paused(due, latency)) for due, latency in latencies]


def measure_swaps(hub, component):
    key = hub.network("swapping")
    for version in range(2):
        hub.upload(key, "guard", unique_copy(component, 1000 + version))
    hub.set_chain(key, [{"name": "guard", "version": 1}])
    results = multiprocessing.Queue()
    callers = [
        multiprocessing.Process(target=run_caller, args=(hub, chat_request(key), CHAT_RATE, SECONDS, results)) for _ in range(CALLERS)
    ]
    for process in callers:
        process.start()
    swaps = 0
    while any(process.is_alive() for process in callers) and swaps < SECONDS * 10:
        hub.set_chain(key, [{"name": "guard", "version": 1 + swaps % 2}])
        swaps += 1
        time.sleep(0.1)
    measured = [results.get() for _ in callers]
    for process in callers:
        process.join()
    rate = sum(len(latencies) / seconds for seconds, latencies, _ in measured)
    wrong = [answer for _, _, answers in measured for answer in answers]
    worst = max(p99_ms(latencies) for _, latencies, _ in measured)
    print(f"{swaps} swaps under {rate:.0f} calls a second: {sum(len(latencies) for _, latencies, _ in measured)} calls, "
          f"{len(wrong)} wrong answers, p99 {worst:.1f} ms")
    assert not wrong, wrong[:3]


def upload_repeatedly(hub, key, upload, kind, stop, results):
    """Uploads until it is stopped; puts into `results` the number of answers by status. Each upload has other bytes
    than the one before, except for the kind "again"."""
    os.nice(19)
    upload = bytearray(upload if kind == "again" else unique_copy(upload, 0))
    mark, statuses = len(upload) - 4, collections.Counter()
    while not stop.is_set():
        if kind != "again":
            # In place: copying it would use as much memory bandwidth as the hub does.
            upload[mark:] = (time.time_ns() % (1 << 32)).to_bytes(4, "little")
        connection = http.client.HTTPConnection("127.0.0.1", hub.port, timeout=90)
        try:
            connection.putrequest("POST", "/api/manage/modules?name=big")
            connection.putheader("X-Service-Api-Key", key)
            connection.putheader("Content-Type", "application/wasm")
            if kind == "chunked":
                connection.putheader("Transfer-Encoding", "chunked")
                connection.endheaders()
                connection.send(b"%x\r\n" % len(upload))
            else:
                connection.putheader("Content-Length", str(len(upload)))
                connection.endheaders()
            connection.send(memoryview(upload)[: len(upload) // 2] if kind == "cut off" else upload)
            statuses["none" if kind == "cut off" else connection.getresponse().status] += 1
            if kind == "once":
                stop.wait()
        except OSError as error:
            statuses[type(error).__name__] += 1
        connection.close()
    results.put(dict(statuses))


def measure_noisy_neighbor(hub, component):
    key = hub.network("quiet")
    hub.upload(key, "guard", component)
    hub.set_chain(key, [{"name": "guard", "version": 1}])

    def measure_p99_ms(call, rate):
        """The 99th percentile as measured, and without the time in which the machine was paused."""
        results, detected = multiprocessing.Queue(), multiprocessing.Queue()
        detectors = []
        if os.geteuid() == 0:
            detectors = [
                multiprocessing.Process(target=detect_pauses, args=(cpu, detected)) for cpu in os.sched_getaffinity(0)
            ]
        caller = multiprocessing.Process(target=run_caller, args=(hub, call, rate, SECONDS, results))
        for process in [*detectors, caller]:
            process.start()
        _, latencies, wrong = results.get()
        pauses = [pause for _ in detectors for pause in detected.get()]
        caller.join()
        assert not wrong, wrong[:3]
        return p99_ms(latencies), p99_ms(without_pauses(pauses, latencies))

    mib = 1 << 20
    padded = {size: unique_copy(component, 0, size * mib) for size in (2, 60)}
    rows = [
        ("nothing", chat_request, None, None),
        ("2 MiB", chat_request, padded[2], "new"),
        ("60 MiB, once", chat_request, padded[60], "once"),
        ("60 MiB", chat_request, padded[60], "new"),
        ("60 MiB, the same again", chat_request, padded[60], "again"),
        ("60 MiB, cut off in the middle", chat_request, padded[60], "cut off"),
        ("65 MiB, too large", chat_request, bytes(65 * mib), "new"),
        ("65 MiB, length not announced", chat_request, bytes(65 * mib), "chunked"),
    ]
    rows += [(pathlib.Path(path).stem, chat_request, pathlib.Path(path).read_bytes(), "new") for path in sys.argv[2:]]
    rows += [
        ("nothing; payments", payment_request, None, None),
        ("60 MiB, once; payments", payment_request, padded[60], "once"),
    ]
    print(f"the 99th percentile of {CHAT_RATE} chat lines a second (or {PAYMENT_RATE} payments), counted from when each was "
          f"due, beside uploads of another network, {ROUNDS} rounds, medians:")
    for number, (name, make_request, upload, kind) in enumerate(rows):
        call, rate = make_request(key), PAYMENT_RATE if make_request is payment_request else CHAT_RATE
        alone, beside, statuses = [], [], collections.Counter()
        for round_number in range(ROUNDS):
            noisy = hub.network(f"noisy-{number}-{round_number}")
            alone.append(measure_p99_ms(call, rate))
            stop, results = multiprocessing.Event(), multiprocessing.Queue()
            uploader = multiprocessing.Process(target=upload_repeatedly, args=(hub, noisy, upload, kind, stop, results))
            if upload:
                uploader.start()
            beside.append(measure_p99_ms(call, rate))
            stop.set()
            if upload:
                statuses.update(results.get())
                uploader.join()
        for column, title in enumerate([name, "  without the machine's pauses"]):
            ratios = sorted(after[column] / before[column] for before, after in zip(alone, beside))
            print(f"  {title:32} alone {statistics.median(p99[column] for p99 in alone):4.1f} ms; "
                  f"{statistics.median(ratios):.2f} times ({ratios[0]:.2f} to {ratios[-1]:.2f})"
                  + (f"; answers {dict(statuses)}" if column == 0 else ""), flush=True)


def main():
    component = (ROOT / "plugins/chat-guard/chat-guard.wasm").read_bytes()
    with tempfile.TemporaryDirectory() as data:
        hub = Hub(sys.argv[1], data)
        hub.start()
        try:
            measure_restart(hub, component)
            measure_swaps(hub, component)
            measure_noisy_neighbor(hub, component)
        finally:
            hub.stop()


if __name__ == "__main__":
    main()
