"""What modules cost a hub from outside: a restart with a hundred of them, chains swapped under load, and neighbours that
upload without a pause.

python3 tests/load/modules.py HUB [MODULE …], where HUB is the hub's executable. Needs nothing but Python. The neighbours
upload further MODULEs, too: `neighbours write FOLDER` writes hostile ones (an example of hub-sandbox).
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
    """Calls at a fixed rate for a while, whether or not the calls before are answered; tells how often, how late the 99th
    percentile was, counted from when each call was due, and every wrong answer."""
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
            times.append(time.perf_counter() - under_way.pop(connection))
            free.append(connection)
            if not answer.startswith(right):
                wrong.append(answer)
    told.put((len(times), time.perf_counter() - begun, sorted(times)[len(times) * 99 // 100], wrong))


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
    rate = sum(count / seconds for count, seconds, _, _ in answers)
    wrong = [one for _, _, _, each in answers for one in each]
    worst = max(p99 for _, _, p99, _ in answers) * 1000
    print(f"{swaps} swaps under {rate:.0f} calls a second: {sum(answer[0] for answer in answers)} calls, "
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
            # In place: copying it would disturb the neighbour as much as the hub may.
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


def neighbours(hub, component):
    key = hub.network("quiet")
    hub.upload(key, "guard", component)
    hub.chain(key, [{"name": "guard", "version": 1}])

    def p99(call, rate):
        told = multiprocessing.Queue()
        asking = multiprocessing.Process(target=caller, args=(hub, call, rate, told))
        asking.start()
        _, _, p99, wrong = told.get()
        asking.join()
        assert not wrong, wrong[:3]
        return p99 * 1000

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
            alone.append(p99(call, rate))
            over, told = multiprocessing.Event(), multiprocessing.Queue()
            uploading = multiprocessing.Process(
                target=upload_without_a_pause, args=(hub, loud, upload, kind, over, told))
            if upload:
                uploading.start()
            # A network's first few are taken at once.
            first.append(p99(call, rate))
            then.append(p99(call, rate))
            over.set()
            if upload:
                answers.update(told.get())
                uploading.join()

        def times(beside):
            ratios = sorted(after / before for before, after in zip(alone, beside))
            return f"{statistics.median(beside):5.1f} ms, {statistics.median(ratios):.2f} times ({ratios[0]:.2f} to {ratios[-1]:.2f})"

        print(f"  {name:30} alone {statistics.median(alone):4.1f} ms; its first {SECONDS} s {times(first)}; "
              f"from then on {times(then)}; answers {dict(answers)}", flush=True)


def main():
    component = (ROOT / "plugins/chat-guard/chat-guard.wasm").read_bytes()
    with tempfile.TemporaryDirectory() as data:
        hub = Hub(sys.argv[1], data)
        hub.start()
        try:
            restart(hub, component)
            swap(hub, component)
            neighbours(hub, component)
        finally:
            hub.stop()


main()
