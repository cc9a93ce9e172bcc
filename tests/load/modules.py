"""What modules cost a hub from outside: a restart with a hundred of them, chains swapped under load, and noisy neighbors
that upload without a pause.

python3 tests/load/modules.py HUB [MODULE …], where HUB is the hub's executable. Needs nothing but Python, and root to tell how
long the machine itself stood, which a virtual one does often. The noisy neighbors upload further MODULEs, too:
`noisy_neighbor write FOLDER`, an example of hub-sandbox, writes hostile ones.
"""

import collections
import http.client
import json
import multiprocessing
import os
import pathlib
import select
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

NETWORKS, MODULES = 10, 10
CALLERS, RATE, WRITES, SECONDS, CONNECTIONS = 4, 500, 200, 8, 32
TURNS = 5
ROOT = pathlib.Path(__file__).resolve().parents[2]
LINE = {
    "playerUuid": "069a79f4-44e9-4726-a5be-fca90e38aaf5",
    "playerName": "Notch",
    "message": "a quiet line",
    "serverId": "lobby-1",
}


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


class Hub:
    def __init__(self, program, data):
        self.program, self.data, self.port = program, data, free_port()

    def start(self):
        """Starts it; the seconds until /readyz says 200."""
        started = time.perf_counter()
        self.process = subprocess.Popen(
            [self.program, "serve", "--data", self.data, "--listen", f"127.0.0.1:{self.port}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while True:
            try:
                if self.call(None, "GET", "/readyz")[0] == 200:
                    return time.perf_counter() - started
            except OSError:
                time.sleep(0.002)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def network(self, name):
        command = [self.program, "network", "create", name, "--json", "--data", self.data]
        return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["apiKey"]

    def call(self, key, method, path, body=None, kind="application/json", connection=None):
        connection = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"Content-Type": kind} if body is not None else {}
        if key:
            headers["X-Service-Api-Key"] = key
        raw = isinstance(body, (bytes, bytearray, type(None)))
        connection.request(method, path, body if raw else json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, answer.read()

    def expect(self, *request, **more):
        status, body = self.call(*request, **more)
        assert status < 300, (request[1:3], status, body)
        return body

    def upload(self, key, name, component):
        self.expect(key, "POST", f"/api/manage/modules?name={name}", component, kind="application/wasm")

    def chain(self, key, links):
        self.expect(key, "PUT", "/api/manage/extension-points/chat", {"modules": links})

    def figures(self, key):
        return json.loads(self.expect(key, "GET", "/api/manage/extension-points/chat"))["modules"]


def marked(component, mark, filling=0):
    """The component with one more custom section of some size, so that it is unlike any other."""
    payload = bytes([4]) + b"mark" + mark.to_bytes(4, "little") + bytes(filling)
    size, left = bytearray(), len(payload)
    while left > 127:
        size.append(left & 127 | 128)
        left >>= 7
    return component + bytes([0]) + bytes(size) + bytes([left]) + payload


def restart(hub, component):
    keys = [hub.network(f"network-{number}") for number in range(NETWORKS)]
    for number, key in enumerate(keys):
        for module in range(MODULES):
            hub.upload(key, f"guard-{module}", marked(component, number * MODULES + module))
        hub.chain(key, [{"name": f"guard-{module}", "version": 1} for module in range(MODULES)])
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
        for link in hub.figures(key):
            assert (link["calls"], link["failures"]) == (1, 0), link
    print(f"restart with {NETWORKS * MODULES} modules, 5 times, medians:")
    print(f"  start to /readyz                                {statistics.median(ready) * 1000:6.0f} ms")
    print(f"  first call of a network, {MODULES} modules in a chain    {statistics.median(first) * 1000:6.1f} ms")
    print(f"  start until every network's first call is done  {statistics.median(all_ready) * 1000:6.0f} ms")
    return keys[0]


def request(key, path, body):
    body = json.dumps(body).encode()
    head = (f"POST {path} HTTP/1.1\r\nHost: hub\r\nX-Service-Api-Key: {key}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n")
    return head.encode() + body


def chat(key):
    return request(key, "/api/plugin/chat", LINE), b"HTTP/1.1 204 "


def money(key):
    path = f"/api/plugin/economy/player/{LINE['playerUuid']}/currencies/modify"
    return request(key, path, {"currency": "coins", "amount": 1, "reason": "load"}), b"HTTP/1.1 200 "


def caller(hub, call, rate, told):
    """Calls at a fixed rate for a while, whether or not the calls before are answered; tells for how long, when each call was
    due and how long after that it was answered, and every wrong answer."""
    sending, right = call
    free = [socket.create_connection(("127.0.0.1", hub.port)) for _ in range(CONNECTIONS)]
    for connection in free:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    begun, under_way, times, wrong, number = time.perf_counter(), {}, [], [], 0
    while number < rate * SECONDS or under_way:
        due = begun + number / rate
        more = number < rate * SECONDS and free
        if more and time.perf_counter() >= due:
            connection = free.pop()
            connection.send(sending)
            under_way[connection] = due
            number += 1
            continue
        # Not `poll`, which counts in milliseconds.
        answered, _, _ = select.select(list(under_way), [], [], max(0, due - time.perf_counter()) if more else 60)
        for connection in answered:
            answer = connection.recv(4096)
            due = under_way.pop(connection)
            times.append((due, time.perf_counter() - due))
            free.append(connection)
            if not answer.startswith(right):
                wrong.append(answer)
    told.put((time.perf_counter() - begun, times, wrong))


def p99(times):
    return sorted(time for _, time in times)[len(times) * 99 // 100] * 1000


def watch(cpu, told):
    """Tells when the machine stood: a thread before which nothing runs, on one CPU, woke up later than it should have."""
    os.sched_setaffinity(0, {cpu})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    pauses, last, over = [], time.perf_counter(), time.perf_counter() + SECONDS + 1
    while last < over:
        time.sleep(0.0005)
        now = time.perf_counter()
        if now - last > 0.0012:
            pauses.append((last + 0.0005, now))
        last = now
    told.put(pauses)


def without(pauses, times):
    """The times of calls without those in which the machine stood."""
    merged = []
    for begun, ended in sorted(pauses):
        if merged and begun <= merged[-1][1]:
            merged[-1][1] = max(ended, merged[-1][1])
        else:
            merged.append([begun, ended])
    stood = lambda due, took: sum(max(0, min(ended, due + took) - max(begun, due)) for begun, ended in merged)
    return [(due, took - stood(due, took)) for due, took in times]


def swap(hub, component):
    key = hub.network("swapping")
    for version in range(2):
        hub.upload(key, "guard", marked(component, 1000 + version))
    hub.chain(key, [{"name": "guard", "version": 1}])
    told = multiprocessing.Queue()
    callers = [multiprocessing.Process(target=caller, args=(hub, chat(key), RATE, told)) for _ in range(CALLERS)]
    for process in callers:
        process.start()
    swaps = 0
    while any(process.is_alive() for process in callers) and swaps < SECONDS * 10:
        hub.chain(key, [{"name": "guard", "version": 1 + swaps % 2}])
        swaps += 1
        time.sleep(0.1)
    answers = [told.get() for _ in callers]
    for process in callers:
        process.join()
    rate = sum(len(times) / seconds for seconds, times, _ in answers)
    wrong = [one for _, _, each in answers for one in each]
    worst = max(p99(times) for _, times, _ in answers)
    print(f"{swaps} swaps under {rate:.0f} calls a second: {sum(len(answer[1]) for answer in answers)} calls, "
          f"{len(wrong)} wrong answers, p99 {worst:.1f} ms")
    assert not wrong, wrong[:3]


def upload_without_a_pause(hub, key, upload, kind, over, told):
    """Uploads until it is over; tells how often it was answered what. Each is unlike any other, but for those that are
    sent again."""
    os.nice(19)
    upload = bytearray(upload if kind == "again" else marked(upload, 0))
    mark, answers = len(upload) - 4, collections.Counter()
    while not over.is_set():
        if kind != "again":
            # In place: copying it would disturb the other network as much as the hub may.
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
            answers["none" if kind == "cut off" else connection.getresponse().status] += 1
            if kind == "once":
                over.wait()
        except OSError as error:
            answers[type(error).__name__] += 1
        connection.close()
    told.put(dict(answers))


def noisy_neighbor(hub, component):
    key = hub.network("quiet")
    hub.upload(key, "guard", component)
    hub.chain(key, [{"name": "guard", "version": 1}])

    def late(call, rate):
        """The 99th percentile, in milliseconds: as it was, and without the time in which the machine stood."""
        told, watched = multiprocessing.Queue(), multiprocessing.Queue()
        watching = [multiprocessing.Process(target=watch, args=(cpu, watched)) for cpu in os.sched_getaffinity(0)]
        asking = multiprocessing.Process(target=caller, args=(hub, call, rate, told))
        for process in [*watching, asking] if os.geteuid() == 0 else [asking]:
            process.start()
        _, times, wrong = told.get()
        pauses = [pause for _ in watching for pause in watched.get()] if os.geteuid() == 0 else []
        asking.join()
        assert not wrong, wrong[:3]
        return p99(times), p99(without(pauses, times))

    mib = 1 << 20
    of = {size: marked(component, 0, size * mib) for size in (2, 60)}
    rows = [
        ("nothing", chat, None, None),
        ("2 MiB", chat, of[2], "new"),
        ("60 MiB, once", chat, of[60], "once"),
        ("60 MiB", chat, of[60], "new"),
        ("60 MiB, the same again", chat, of[60], "again"),
        ("60 MiB, cut off in the middle", chat, of[60], "cut off"),
        ("65 MiB, too large", chat, bytes(65 * mib), "new"),
        ("65 MiB, of no known length", chat, bytes(65 * mib), "chunked"),
    ]
    rows += [(pathlib.Path(more).stem, chat, pathlib.Path(more).read_bytes(), "new") for more in sys.argv[2:]]
    rows += [("nothing; money", money, None, None), ("60 MiB, once; money", money, of[60], "once")]
    print(f"the 99th percentile of {RATE} chat lines a second ({WRITES} of money), counted from when each was due, beside "
          f"uploads of another network, {TURNS} times, medians:")
    for number, (name, call, upload, kind) in enumerate(rows):
        call, rate = call(key), WRITES if call is money else RATE
        alone, first, then, answers = [], [], [], collections.Counter()
        for turn in range(TURNS):
            loud = hub.network(f"loud-{number}-{turn}")
            alone.append(late(call, rate))
            over, told = multiprocessing.Event(), multiprocessing.Queue()
            uploading = multiprocessing.Process(
                target=upload_without_a_pause, args=(hub, loud, upload, kind, over, told))
            if upload:
                uploading.start()
            # A network's first few are taken at once.
            first.append(late(call, rate))
            then.append(late(call, rate))
            over.set()
            if upload:
                answers.update(told.get())
                uploading.join()

        def times(beside, column):
            ratios = sorted(after[column] / before[column] for before, after in zip(alone, beside))
            return f"{statistics.median(ratios):.2f} times ({ratios[0]:.2f} to {ratios[-1]:.2f})"

        for column, title in enumerate([name, "  without the machine's pauses"]):
            print(f"  {title:30} alone {statistics.median(one[column] for one in alone):4.1f} ms; "
                  f"first {SECONDS} s {times(first, column)}; from then on {times(then, column)}"
                  + (f"; answers {dict(answers)}" if column == 0 else ""), flush=True)


def main():
    component = (ROOT / "plugins/chat-guard/chat-guard.wasm").read_bytes()
    with tempfile.TemporaryDirectory() as data:
        hub = Hub(sys.argv[1], data)
        hub.start()
        try:
            restart(hub, component)
            swap(hub, component)
            noisy_neighbor(hub, component)
        finally:
            hub.stop()


main()
