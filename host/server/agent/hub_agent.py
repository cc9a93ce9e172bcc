#!/usr/bin/env python3
"""The node agent of a Network Hub: runs one game server and does what the hub says.

It runs the server as a child process or a container, keeps its console, ships its
output, and updates itself without stopping the server. It needs Python 3.9 on Linux
and nothing else. `--help` tells how to run it; docs/agents.md tells the rest.
"""

import argparse
import base64
import codecs
import collections
import hashlib
import http.client
import io
import json
import os
import random
import re
import select
import shlex
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import urllib.parse
import urllib.request
import zipfile

# What the hub is told at each poll.
CAPABILITIES = ["start", "stop", "restart", "kill", "console", "logs", "install"]
# How long a poll waits at the hub. Below the 30 s after which the hub takes an agent for gone.
POLL_WAIT_MS = 25_000
# Back-off after failures, in seconds: doubled each time, up to the second.
BACK_OFF = (0.5, 15.0)
# Longer lines are cut, in characters.
LONGEST_LINE = 8_000
# Lines kept for LOGS, and lines kept while the hub cannot be reached.
LINES_KEPT = 5_000
LINES_BUFFERED = 20_000
# One batch of lines: at most so many, of so many bytes.
BATCH_LINES = 500
BATCH_BYTES = 400_000
# The answer to LOGS must fit into one request.
LOGS_BYTES = 700_000
# A write to the server's standard input must succeed within so many seconds.
WRITE_WITHIN = 5.0
# Where a new version finds what the old one left.
HANDOVER = "HUB_AGENT_HANDOVER"
# What the server must not see of the agent's environment.
SECRET = ("HUB_API_KEY", "HUB_API_KEY_FILE", HANDOVER)

# What a Java server says when it has run out of memory.
OUT_OF_MEMORY_LINE = re.compile(
    r"^(Terminating due to java\.lang\.OutOfMemoryError"
    r"|Aborting due to java\.lang\.OutOfMemoryError"
    r"|# There is insufficient memory for the Java Runtime Environment to continue"
    r"|Exception in thread \"main\" java\.lang\.OutOfMemoryError)"
)
# A device-code login, as a Hytale server prints it: a page that has the code in its address, or a page
# and a code on lines of their own.
LOGIN_URL = re.compile(r"https://[^\s\"'<>]+")
LOGIN_PAGE = re.compile(r"https://[^\s\"'<>]*(?:device|activate|verify)[^\s\"'<>]*", re.I)
LOGIN_CODE = re.compile(r"(?i:\buser[ _-]?code|\bcode)\s*[:=]\s*([A-Z0-9]{4,}(?:-[A-Z0-9]{3,})*)\b")
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def log(text):
    """A line for the journal."""
    print(f"hub-agent: {text}", file=sys.stderr, flush=True)


def now_ms():
    return time.time_ns() // 1_000_000


def duration(seconds):
    """For people."""
    seconds = int(seconds)
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


class AgentError(Exception):
    """Something the hub asked for did not work; the text goes to whoever asked."""


# --- The hub -----------------------------------------------------------------------------------


class HubError(Exception):
    """The hub could not be reached, or refused."""

    def __init__(self, text, status=None):
        super().__init__(text)
        self.status = status


class Hub:
    """The hub's REST interface. Every call has a connection of its own, so that threads share nothing."""

    def __init__(self, url, key, server_id):
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SystemExit(f"hub-agent: {url!r} is no http or https URL")
        self.parts = parts
        self.key = key
        self.server = urllib.parse.quote(server_id, safe="")
        self.tls = ssl.create_default_context() if parts.scheme == "https" else None

    def request(self, method, path, body=None, timeout=20.0, into=None):
        """The answer's body; written to the file `into` instead, if there is one."""
        kind = http.client.HTTPSConnection if self.tls else http.client.HTTPConnection
        options = {"context": self.tls} if self.tls else {}
        connection = kind(self.parts.hostname, self.parts.port, timeout=timeout, **options)
        headers = {"X-Service-Api-Key": self.key, "User-Agent": "hub-agent"}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        try:
            connection.request(method, self.parts.path.rstrip("/") + path, data, headers)
            answer = connection.getresponse()
            if answer.status >= 300:
                raise HubError(f"{method} {path.split('?')[0]}: {answer.status} {error_text(answer.read(65_536))}", answer.status)
            if into is None:
                return answer.read()
            shutil.copyfileobj(answer, into)
            return b""
        except (OSError, http.client.HTTPException) as error:
            raise HubError(f"{method} {path.split('?')[0]}: {error or type(error).__name__}") from error
        finally:
            connection.close()

    def poll(self, report, wait_ms):
        query = urllib.parse.urlencode({**report, "waitMs": wait_ms})
        body = self.request("GET", f"/api/plugin/servers/{self.server}/commands?{query}", timeout=wait_ms / 1000 + 15)
        try:
            return [json.loads(text) for text in json.loads(body)["commands"]]
        except (ValueError, KeyError, TypeError) as error:
            raise HubError(f"the answer to a poll is not one: {error}") from error

    def result(self, command_id, body):
        command = urllib.parse.quote(str(command_id), safe="")
        self.request("POST", f"/api/plugin/servers/{self.server}/commands/{command}/result", body)

    def ship(self, lines):
        self.request("POST", f"/api/plugin/servers/{self.server}/logs", {"lines": lines})


def error_text(body):
    try:
        return json.loads(body)["error"]
    except (ValueError, KeyError, TypeError):
        return body[:200].decode("utf-8", "replace")


class BackOff:
    """Waits longer after each failure, never in step with others."""

    def __init__(self):
        self.failures = 0

    def reset(self):
        self.failures = 0

    def delay(self):
        first, most = BACK_OFF
        longest = min(most, first * 2 ** min(self.failures, 10))
        self.failures += 1
        return longest / 2 + random.random() * longest / 2


# --- Output ------------------------------------------------------------------------------------


class Output:
    """The server's lines: the newest for LOGS, and those not yet shipped."""

    def __init__(self):
        self.lock = threading.Lock()
        self.newest = collections.deque(maxlen=LINES_KEPT)
        self.unshipped = collections.deque()
        self.dropped = 0
        self.news = threading.Event()

    def add(self, stream, text):
        line = {"at": now_ms(), "stream": stream, "text": text[:LONGEST_LINE].replace("\0", "")}
        with self.lock:
            self.newest.append(line["text"])
            self.unshipped.append(line)
            while len(self.unshipped) > LINES_BUFFERED:
                self.unshipped.popleft()
                self.dropped += 1
        self.news.set()

    def tail(self, count):
        """The newest lines as one text, of at most so many bytes as one answer may have."""
        with self.lock:
            lines = list(self.newest)[-count:]
        taken, size = [], 0
        for line in reversed(lines):
            size += len(json.dumps(line))
            if size > LOGS_BYTES:
                break
            taken.append(line)
        return "\n".join(reversed(taken))

    def batch(self):
        """The oldest lines not yet shipped; they stay until `shipped`."""
        with self.lock:
            lines, size = [], 0
            if self.dropped:
                text = f"[hub-agent] {self.dropped} lines were dropped: they came faster than they could be shipped"
                lines.append({"at": now_ms(), "stream": "stderr", "text": text})
            for line in self.unshipped:
                size += len(json.dumps(line)) + 2
                if len(lines) >= BATCH_LINES or (lines and size > BATCH_BYTES):
                    break
                lines.append(line)
            return lines, self.dropped

    def shipped(self, lines, dropped):
        """Forgets a batch. Lines that were dropped meanwhile may have been of it."""
        with self.lock:
            count = len(lines) - (1 if dropped else 0)
            gone = self.dropped - dropped
            self.dropped = max(0, gone - count)
            for _ in range(max(0, count - gone)):
                self.unshipped.popleft()

    def state(self):
        with self.lock:
            return {"newest": list(self.newest), "unshipped": list(self.unshipped), "dropped": self.dropped}

    def restore(self, state):
        self.newest.extend(state["newest"])
        self.unshipped.extend(state["unshipped"])
        self.dropped = state["dropped"]
        self.news.set()


class Reader(threading.Thread):
    """Reads one of the server's pipes, line by line, until it ends."""

    def __init__(self, fd, stream, output, noticed, held=b""):
        super().__init__(daemon=True, name=f"read-{stream}")
        self.fd, self.stream, self.output, self.noticed = fd, stream, output, noticed
        self.held = held
        # Held while bytes are in hand, so that a handover loses none.
        self.lock = threading.Lock()
        os.set_blocking(fd, False)

    def run(self):
        while True:
            select.select([self.fd], [], [])
            with self.lock:
                try:
                    data = os.read(self.fd, 65_536)
                except BlockingIOError:
                    continue
                except OSError:
                    data = b""
                if not data:
                    if self.held:
                        self.line(self.held)
                    os.close(self.fd)
                    self.fd = -1
                    return
                *lines, self.held = (self.held + data).split(b"\n")
                if len(self.held) > LONGEST_LINE * 4:
                    lines.append(self.held)
                    self.held = b""
                for line in lines:
                    self.line(line)

    def line(self, data):
        text = data.decode("utf-8", "replace").rstrip("\r")
        self.output.add(self.stream, text)
        self.noticed(text)


# --- Memory ------------------------------------------------------------------------------------


def parse_size(text):
    match = re.fullmatch(r"(\d+)\s*([KMGT]?)(?:I?B)?", text.strip(), re.I)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is no size such as 512M or 4G")
    return int(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " ")


def read_text(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def count_in(text, name):
    match = re.search(rf"^{name} (\d+)$", text, re.M)
    return int(match[1]) if match else None


def own_cgroups():
    """The folders of this process's memory cgroup: version 2, then version 1."""
    found = []
    for line in read_text("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            found += [f"/sys/fs/cgroup{path}", f"/sys/fs/cgroup/unified{path}"]
        elif "memory" in controllers.split(","):
            found += [f"/sys/fs/cgroup/memory{path}", "/sys/fs/cgroup/memory"]
    return found


def oom_kills():
    """How often the kernel has killed for want of memory: in this cgroup, and on this machine."""
    kills = {"machine": count_in(read_text("/proc/vmstat"), "oom_kill")}
    for folder in own_cgroups():
        for name in ("memory.events", "memory.oom_control"):
            count = count_in(read_text(f"{folder}/{name}"), "oom_kill")
            if count is not None:
                kills[folder] = count
    return kills


def session_memory(session):
    """Resident bytes of all processes of a session: the server and what it started."""
    page, total = os.sysconf("SC_PAGE_SIZE"), 0
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        # Behind the command's name, which may hold anything: state, parent, group, session …, resident pages.
        fields = read_text(f"/proc/{name}/stat").rpartition(")")[2].split()
        if len(fields) > 21 and int(fields[3]) == session:
            total += int(fields[21]) * page
    return total


# --- The server --------------------------------------------------------------------------------


class Server:
    """The server as a child process, or as the engine's client attached to its container."""

    def __init__(self, options, output, noticed):
        self.options, self.output, self.noticed = options, output, noticed
        self.lock = threading.RLock()
        self.changed = threading.Event()
        self.pid = None
        self.popen = None
        self.stdin = -1
        # What a write to a full pipe left over; it goes first next time.
        self.stdin_rest = b""
        self.writing = threading.Lock()
        self.readers = []
        self.started_at = 0.0
        self.ended_after = 0.0
        self.exit_code = None
        self.signal = None
        self.out_of_memory = False
        # Why the agent killed it, if it did.
        self.killed = None
        self.java_out_of_memory = False
        self.stop_by = None
        self.stopping = False
        self.start_again = False
        # The agent is leaving: nothing is started any more.
        self.closed = False
        # Crashes in a row, and when to start again after the last.
        self.crashes = 0
        self.restart_at = None
        self.measure_at = 0.0
        # How often the kernel had killed something, at the last look and at the one before.
        self.kills = {}
        self.kills_before = {}

    # What the hub asks for.

    def start(self):
        with self.lock:
            if self.closed:
                raise AgentError("the agent is stopping")
            self.crashes = 0
            if self.pid is not None:
                if self.stopping:
                    # Whoever starts what is going down wants it up.
                    self.start_again = True
                    return {"starting": "once it is down"}
                return {"alreadyRunning": True}
            self.launch()
            return {"pid": self.pid}

    def stop(self, again=False):
        """Tells the server to shut down; it may take its time."""
        with self.lock:
            if again and self.closed:
                raise AgentError("the agent is stopping")
            self.start_again, self.restart_at = again, None
            if self.pid is None:
                if again:
                    self.launch()
                self.changed.set()
                return {"alreadyStopped": True}
            if not self.stopping:
                self.stopping = True
                if self.options.stop_timeout > 0:
                    self.stop_by = time.monotonic() + self.options.stop_timeout
                self.changed.set()
        # Not under the lock: a server that does not read would hold up everything.
        self.tell_to_stop()
        return {}

    def kill(self):
        with self.lock:
            self.start_again, self.restart_at = False, None
            if self.pid is None:
                self.changed.set()
                return {"alreadyStopped": True}
            self.stopping = True
            self.send_kill("killed by command")
            return {}

    def write(self, line):
        """Writes a line to the server's console, whole or, in time, not at all."""
        with self.writing:
            stdin = self.stdin
            if stdin < 0:
                raise AgentError("the server is not running")
            deadline = time.monotonic() + WRITE_WITHIN
            if self.stdin_rest and not self.flush(stdin, deadline):
                raise AgentError("the server does not read its console")
            self.stdin_rest = line.encode() + b"\n"
            size = len(self.stdin_rest)
            if not self.flush(stdin, deadline) and len(self.stdin_rest) == size:
                self.stdin_rest = b""
                raise AgentError("the server does not read its console")

    def flush(self, stdin, deadline):
        """Writes what there is; whether all of it."""
        while self.stdin_rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([], [stdin], [], left)[1]:
                return False
            try:
                written = os.write(stdin, self.stdin_rest)
            except BlockingIOError:
                continue
            except OSError as error:
                self.stdin_rest = b""
                raise AgentError(f"the server has closed its console: {error}") from error
            self.stdin_rest = self.stdin_rest[written:]
        return True

    # How a process is handled; a container differs.

    def command(self):
        return self.options.command

    def environment(self):
        environment = {name: value for name, value in os.environ.items() if name not in SECRET}
        environment.update(self.options.env)
        return environment

    def tell_to_stop(self):
        if self.options.stop_command:
            try:
                return self.write(self.options.stop_command)
            except AgentError as error:
                log(f"the stop command could not be written ({error}); sending SIGTERM")
        self.signal_server(signal.SIGTERM)

    def signal_server(self, number):
        with self.lock:
            if self.pid is not None:
                try:
                    # It leads a session of its own: what it started hears it too.
                    os.killpg(self.pid, number)
                except ProcessLookupError:
                    pass

    def how_it_ended(self, status, kernel_killed):
        """Exit code, signal, and whether it was for want of memory."""
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            return 128 + number, number, number == signal.SIGKILL and self.killed is None and kernel_killed
        code = os.WEXITSTATUS(status)
        # A shell in between reports its child's signal like this.
        killed = code == 128 + signal.SIGKILL and self.killed is None and kernel_killed
        return code, None, killed or (code != 0 and self.java_out_of_memory)

    def kernel_killed(self):
        """Whether the kernel has killed something for want of memory since it was last looked."""
        before = self.kills_before
        return any(before.get(place) is not None and count is not None and count > before[place]
                   for place, count in oom_kills().items())

    # Life and death.

    def launch(self):
        options = self.options
        command = self.command()
        out_read, out_write = os.pipe()
        err_read, err_write = os.pipe()
        in_read, in_write = os.pipe()
        try:
            popen = subprocess.Popen(
                command, cwd=options.workdir, env=self.environment(), stdin=in_read, stdout=out_write,
                stderr=err_write, start_new_session=True, close_fds=True)
        except (OSError, ValueError) as error:
            for fd in (out_read, err_read, in_write):
                os.close(fd)
            self.exit_code, self.signal, self.ended_after = 127, None, 0.0
            self.restart_at = None
            self.changed.set()
            raise AgentError(f"the server could not be started: {error}") from error
        finally:
            for fd in (out_write, err_write, in_read):
                os.close(fd)
        os.set_blocking(in_write, False)
        self.popen, self.pid, self.stdin, self.stdin_rest = popen, popen.pid, in_write, b""
        self.started_at = time.time()
        self.exit_code, self.signal, self.out_of_memory = None, None, False
        self.killed, self.java_out_of_memory = None, False
        self.stopping, self.start_again, self.stop_by, self.restart_at = False, False, None, None
        self.measure_at = 0.0
        self.kills = self.kills_before = oom_kills()
        self.readers = [Reader(out_read, "stdout", self.output, self.notice),
                        Reader(err_read, "stderr", self.output, self.notice)]
        log(f"started {shlex.join(command)} as process {self.pid}")
        self.attend()

    def attend(self):
        for reader in self.readers:
            reader.start()
        threading.Thread(target=self.wait, args=(self.pid,), daemon=True, name="wait").start()
        self.changed.set()

    def notice(self, line):
        if OUT_OF_MEMORY_LINE.match(line):
            self.java_out_of_memory = True
        self.noticed(line)

    def wait(self, pid):
        # Not taken yet: a handover in between leaves it to the next version.
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        # The counters tell of the last moments only, and those pass.
        kernel_killed = self.kernel_killed()
        # What it said last may tell why.
        for reader in self.readers:
            reader.join(timeout=1.0)
        with self.lock:
            _, status = os.waitpid(pid, 0)
            if self.popen is not None:
                self.popen.returncode = status
            self.exit_code, self.signal, out_of_memory = self.how_it_ended(status, kernel_killed)
            self.out_of_memory = self.out_of_memory or out_of_memory
            self.ended_after = time.time() - self.started_at
            stdin, self.stdin = self.stdin, -1
            asked = self.stopping
            self.pid, self.stop_by, self.stopping = None, None, False
            log(f"the server is down: {self.status()}")
            again, self.start_again = self.start_again, False
            if again:
                self.launch_or_log()
            elif not asked:
                self.plan_restart()
            self.changed.set()
        with self.writing:
            os.close(stdin)

    def launch_or_log(self):
        try:
            self.launch()
        except AgentError as error:
            log(str(error))

    def plan_restart(self):
        """It went down by itself."""
        policy = self.options.restart
        if self.closed or policy == "never" or (policy == "on-failure" and self.exit_code == 0):
            return
        # One that ran for a while is not in a loop of crashes.
        self.crashes = 0 if self.ended_after > 600 else self.crashes + 1
        self.restart_at = time.monotonic() + min(300.0, 5.0 * 2 ** min(self.crashes - 1, 10)) * (self.crashes > 0)

    def watch(self):
        """To be called several times a second."""
        with self.lock:
            if self.pid is None:
                if self.restart_at is not None and time.monotonic() >= self.restart_at:
                    self.launch_or_log()
                return
            if self.stop_by is not None and time.monotonic() >= self.stop_by:
                self.stop_by = None
                self.send_kill(f"it did not stop within {self.options.stop_timeout} s")
            if self.options.memory_limit and self.killed is None and time.monotonic() >= self.measure_at:
                self.measure()
            # Of the last moments only: another process's death long ago tells nothing about this one's.
            self.kills_before, self.kills = self.kills, oom_kills()

    def measure(self):
        began = time.monotonic()
        if session_memory(self.pid) > self.options.memory_limit:
            self.out_of_memory = True
            self.send_kill("it used more memory than it may")
        # On a machine with very many processes this takes a while; it shall not take much of the machine.
        self.measure_at = began + 20 * (time.monotonic() - began)

    def send_kill(self, why):
        self.killed = why
        log(f"killing the server: {why}")
        self.kill_server()

    def kill_server(self):
        self.signal_server(signal.SIGKILL)

    # How it is.

    def state(self):
        if self.pid is not None:
            return "RUNNING"
        if self.restart_at is not None:
            return "RESTARTING"
        return "CREATED" if self.exit_code is None else "EXITED"

    def status(self):
        if self.pid is not None:
            since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.started_at))
            told = "" if not self.stopping else ", told to restart" if self.start_again else ", told to stop"
            return f"Running since {since} as process {self.pid}{told}"
        if self.exit_code is None:
            return "Never started"
        why = ""
        if self.out_of_memory:
            why = ": out of memory"
        elif self.killed:
            why = f": {self.killed}"
        elif self.signal:
            why = f": {signal.Signals(self.signal).name}"
        return f"Exited ({self.exit_code}) after {duration(self.ended_after)}{why}"

    def report(self):
        with self.lock:
            report = {"containerState": self.state(), "containerStatus": self.status(),
                      "outOfMemory": "true" if self.out_of_memory else "false"}
            if self.exit_code is not None:
                report["exitCode"] = self.exit_code
            return report

    # Handover to a new version.

    FIELDS = ("pid", "stdin", "started_at", "ended_after", "exit_code", "signal", "out_of_memory", "killed",
              "java_out_of_memory", "stopping", "start_again", "crashes")

    def hand_over(self):
        """What the next version needs, all locks held: nothing moves any more."""
        self.writing.acquire()
        self.lock.acquire()
        for reader in self.readers:
            reader.lock.acquire()
        state = {name: getattr(self, name) for name in self.FIELDS}
        state["stdin_rest"] = base64.b64encode(self.stdin_rest).decode()
        state["restart_in"] = None if self.restart_at is None else self.restart_at - time.monotonic()
        state["stop_in"] = None if self.stop_by is None else self.stop_by - time.monotonic()
        state["readers"] = [
            {"fd": reader.fd, "stream": reader.stream, "held": base64.b64encode(reader.held).decode()}
            for reader in self.readers if reader.fd >= 0]
        for fd in [self.stdin] + [reader["fd"] for reader in state["readers"]]:
            if fd >= 0:
                os.set_inheritable(fd, True)
        return state

    def keep(self):
        """The handover failed."""
        for reader in self.readers:
            if reader.fd >= 0:
                os.set_inheritable(reader.fd, False)
            reader.lock.release()
        self.lock.release()
        self.writing.release()

    def take_over(self, state):
        for name in self.FIELDS:
            # The version before may not have known it.
            setattr(self, name, state.get(name, getattr(self, name)))
        self.stdin_rest = base64.b64decode(state.get("stdin_rest", ""))
        if state.get("stop_in") is not None:
            self.stop_by = time.monotonic() + state["stop_in"]
        if state.get("restart_in") is not None:
            self.restart_at = time.monotonic() + state["restart_in"]
        self.kills = self.kills_before = oom_kills()
        for fd in [self.stdin] + [reader["fd"] for reader in state["readers"]]:
            if fd >= 0:
                os.set_inheritable(fd, False)
        self.readers = [Reader(reader["fd"], reader["stream"], self.output, self.notice,
                               base64.b64decode(reader["held"])) for reader in state["readers"]]
        if self.pid is not None:
            self.attend()


class Container(Server):
    """The server in a container: the child process is the engine's client, attached to it."""

    def engine(self, *arguments):
        try:
            return subprocess.run([self.options.engine, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, timeout=20, env=self.environment(), check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise AgentError(f"{self.options.engine} {arguments[0]} failed: {error}") from error

    def command(self):
        options = self.options
        # One that is left over from before; a running one stays, and makes the start fail.
        self.engine("rm", options.container_name)
        run = [options.engine, "run", "--interactive", "--name", options.container_name, "--sig-proxy=false"]
        if options.memory_limit:
            run += ["--memory", str(options.memory_limit), "--memory-swap", str(options.memory_limit)]
        for name in options.env:
            # The value is the client's own, where no list of processes shows it.
            run += ["--env", name]
        return run + options.container_arg + [options.container] + options.command

    def signal_server(self, number):
        self.engine("kill", "--signal", signal.Signals(number).name[3:], self.options.container_name)

    def measure(self):
        # The engine sees to the limit.
        pass

    def how_it_ended(self, status, kernel_killed):
        try:
            shown = self.engine("inspect", "--format", "{{json .State}}", self.options.container_name)
            state = json.loads(shown.stdout)
            return int(state["ExitCode"]), None, bool(state.get("OOMKilled")) or self.java_out_of_memory
        except (AgentError, ValueError, KeyError, TypeError) as error:
            log(f"the container's state is unknown: {error}")
            return os.waitstatus_to_exitcode(status) & 0xFF, None, False


# --- Logins ------------------------------------------------------------------------------------


class Logins:
    """Finds device-code logins in the output, so that the owner can confirm them."""

    def __init__(self):
        self.page, self.page_age, self.code, self.code_age = None, 0, None, 0
        self.found = collections.deque()
        self.told = None
        self.news = threading.Event()

    def notice(self, line):
        # The page and the code may be a few lines apart, in either order.
        self.page_age += 1
        self.code_age += 1
        if "https://" not in line and "code" not in line.lower():
            return
        line = ESCAPES.sub("", line)
        page = LOGIN_PAGE.search(line)
        if page:
            self.page, self.page_age = page[0].rstrip(".,;)"), 0
            query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.page).query)
            for name in ("user_code", "userCode", "code"):
                if query.get(name):
                    self.code, self.code_age = query[name][0], 0
        code = LOGIN_CODE.search(LOGIN_URL.sub("", line))
        if code:
            self.code, self.code_age = code[1], 0
        if self.page and self.code and self.page_age <= 10 and self.code_age <= 10 and self.told != self.code:
            self.told = self.code
            self.found.append({"verifyUrl": self.page, "userCode": self.code})
            self.news.set()


# --- Plugins -----------------------------------------------------------------------------------


def plugin_file(name, url):
    """The file a plugin is kept in: its own name and nothing that leads elsewhere."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 ._+-]{0,120}", name) or ".." in name:
        raise AgentError(f"{name!r} is no name for a plugin")
    if os.path.splitext(name)[1].lower() in (".jar", ".zip"):
        return name
    ending = os.path.splitext(urllib.parse.urlsplit(url).path)[1].lower()
    return name + (ending if ending in (".jar", ".zip") else ".jar")


def install(folder, command):
    """Downloads a plugin, checks it, and puts it in its place in one step."""
    url, sha256 = command.get("url"), command.get("sha256")
    if not isinstance(url, str) or urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise AgentError("the plugin's URL is neither http nor https")
    if not isinstance(sha256, str) or not re.fullmatch(r"[0-9a-fA-F]{64}", sha256):
        raise AgentError("the plugin's SHA-256 is none")
    name = plugin_file(command.get("name"), url)
    try:
        os.makedirs(folder, exist_ok=True)
        handle, partial = tempfile.mkstemp(prefix=".hub-agent-", dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                digest = hashlib.sha256()
                # Without the key: the link is signed, and may lead to another host.
                with urllib.request.urlopen(url, timeout=60) as answer:
                    for block in iter(lambda: answer.read(1 << 16), b""):
                        digest.update(block)
                        file.write(block)
                if digest.hexdigest() != sha256.lower():
                    raise AgentError("what was downloaded has another SHA-256 than it should")
                file.flush()
                os.fsync(file.fileno())
            os.chmod(partial, 0o644)
            os.replace(partial, os.path.join(folder, name))
        except BaseException:
            os.unlink(partial)
            raise
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise AgentError(f"the plugin could not be installed: {error}") from error
    log(f"installed {name} {command.get('version') or ''}")
    return {"file": name}


def unpack(archive, folder, name):
    """Unpacks a zip or tar into the folder, or copies what is neither."""
    os.makedirs(folder, exist_ok=True)
    root = os.path.realpath(folder)

    def inside(path):
        target = os.path.realpath(os.path.join(root, path))
        if os.path.commonpath([root, target]) != root:
            raise AgentError(f"the bundle has a file outside of its folder: {path!r}")
        return target

    archive.seek(0)
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as bundle:
            for entry in bundle.infolist():
                place(inside(entry.filename), entry.is_dir(), lambda entry=entry: bundle.open(entry))
        return
    archive.seek(0)
    try:
        with tarfile.open(fileobj=archive) as bundle:
            for entry in bundle:
                # Links could lead anywhere, and nothing else belongs here.
                if entry.isfile() or entry.isdir():
                    place(inside(entry.name), entry.isdir(), lambda entry=entry: bundle.extractfile(entry))
    except tarfile.ReadError:
        archive.seek(0)
        place(inside(name), False, lambda: io.BufferedReader(io.FileIO(os.dup(archive.fileno()))))


def place(target, is_folder, opened):
    if is_folder:
        os.makedirs(target, exist_ok=True)
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    partial = f"{target}.hub-agent"
    with opened() as source, open(partial, "wb") as file:
        shutil.copyfileobj(source, file)
    os.replace(partial, target)


# --- The agent ---------------------------------------------------------------------------------


class Agent:
    """All of it together."""

    def __init__(self, options, key):
        self.options = options
        self.hub = Hub(options.hub, key, options.server_id)
        self.output = Output()
        self.logins = Logins()
        kind = Container if options.container else Server
        self.server = kind(options, self.output, self.logins.notice)
        self.path = os.path.realpath(__file__)
        with open(self.path, "rb") as file:
            self.version = hashlib.sha256(file.read()).hexdigest()
        self.tried = None
        self.ending = threading.Event()
        self.leaving = threading.Event()
        self.updated = threading.Event()
        self.commands = collections.deque()
        self.commanded = threading.Event()
        self.threads = []
        self.installing = threading.Lock()

    # Threads that run until the agent leaves.

    def spawn(self, name, work):
        thread = threading.Thread(target=work, daemon=True, name=name)
        self.threads.append(thread)
        thread.start()

    def report(self):
        return {"nodeId": self.options.node_id, "capabilities": ",".join(CAPABILITIES), **self.server.report()}

    def take(self, wait_ms):
        for command in self.hub.poll(self.report(), wait_ms):
            self.commands.append(command)
            self.commanded.set()

    def poll(self):
        back_off = BackOff()
        while not self.leaving.is_set():
            began = time.monotonic()
            try:
                self.take(POLL_WAIT_MS)
                if back_off.failures:
                    log("the hub is there again")
                back_off.reset()
                # Another agent for the same server would end each poll at once.
                self.leaving.wait(max(0.0, 0.1 - (time.monotonic() - began)))
            except HubError as error:
                delay = back_off.delay()
                log(f"{error}; again in {delay:.1f} s")
                self.leaving.wait(delay)

    def tell_changes(self):
        """The poll that waits tells how things were when it began; this one, how they are."""
        while not self.leaving.is_set():
            if not self.server.changed.wait(1.0):
                continue
            self.server.changed.clear()
            try:
                self.take(0)
            except HubError:
                # The next poll tells.
                pass

    def ship(self):
        back_off = BackOff()
        while True:
            if self.leaving.is_set() and not self.ending.is_set():
                # What is left goes to the next version.
                return
            lines, dropped = self.output.batch()
            if not lines:
                if self.leaving.is_set():
                    return
                self.output.news.wait(1.0)
                self.output.news.clear()
                # Lines come in flocks.
                time.sleep(0.05)
                continue
            try:
                self.hub.ship(lines)
                self.output.shipped(lines, dropped)
                back_off.reset()
            except HubError as error:
                if error.status == 400:
                    # It will not be taken the next time either.
                    log(f"{error}; {len(lines)} lines are lost")
                    self.output.shipped(lines, dropped)
                elif self.leaving.wait(back_off.delay()):
                    return

    def tell_logins(self):
        back_off = BackOff()
        while not self.leaving.is_set():
            if not self.logins.found:
                self.logins.news.wait(1.0)
                self.logins.news.clear()
                continue
            body = {"serverId": self.options.server_id, **self.logins.found[0]}
            try:
                self.hub.request("POST", "/api/plugin/provisioning/auth-code", body)
                log("told the hub of a login that waits for its owner")
                back_off.reset()
                self.logins.found.popleft()
            except HubError as error:
                if error.status in (400, 404):
                    log(str(error))
                    self.logins.found.popleft()
                else:
                    self.leaving.wait(back_off.delay())

    def update(self):
        interval = self.options.update_interval
        while interval > 0 and not self.leaving.wait(interval * (0.75 + random.random() / 2)):
            try:
                self.look_for_update()
            except (HubError, OSError, ValueError, SyntaxError, KeyError, subprocess.SubprocessError) as error:
                log(f"no update: {error}")

    def look_for_update(self):
        wanted = json.loads(self.hub.request("GET", "/api/plugin/provisioning/agent-version"))["sha256"]
        if wanted in (self.version, self.tried):
            return
        script = self.hub.request("GET", "/api/plugin/provisioning/agent-script", timeout=60)
        if hashlib.sha256(script).hexdigest() != wanted:
            raise ValueError("the script is not the one that was announced")
        handle, partial = tempfile.mkstemp(prefix=".hub-agent-", suffix=".py", dir=os.path.dirname(self.path))
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(script)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(partial, os.stat(self.path).st_mode & 0o777)
            environment = {name: value for name, value in os.environ.items() if name not in SECRET}
            try:
                compile(script, self.path, "exec")
                subprocess.run([sys.executable, partial, "--version"], check=True, timeout=60, env=environment,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            except (SyntaxError, ValueError, subprocess.SubprocessError):
                # It would fail again.
                self.tried = wanted
                raise
            os.replace(partial, self.path)
        except BaseException:
            os.unlink(partial)
            raise
        log(f"updating to {wanted[:12]}")
        self.updated.set()

    # Commands.

    def work(self):
        while True:
            if not self.commands:
                if self.leaving.is_set():
                    return
                self.commanded.wait(1.0)
                self.commanded.clear()
                continue
            command = self.commands.popleft()
            if command.get("action") == "INSTALL":
                # A download may take its time.
                threading.Thread(target=self.obey, args=(command,), daemon=True, name="install").start()
            else:
                self.obey(command)

    def obey(self, command):
        try:
            body = {"status": "OK", "result": self.act(command)}
        except AgentError as error:
            body = {"status": "ERROR", "error": str(error)}
        except Exception as error:  # pylint: disable=broad-except
            log(f"{command.get('action')} failed: {error!r}")
            body = {"status": "ERROR", "error": f"the agent failed: {error!r}"}
        for delay in (0.2, 1.0, 0.0):
            try:
                return self.hub.result(command.get("commandId"), body)
            except HubError as error:
                log(str(error))
                time.sleep(delay)

    def act(self, command):
        action = command.get("action")
        if action == "START":
            return self.server.start()
        if action == "STOP":
            return self.server.stop()
        if action == "RESTART":
            return self.server.stop(again=True)
        if action == "KILL":
            return self.server.kill()
        if action == "CONSOLE":
            line = command.get("line")
            if not isinstance(line, str) or "\n" in line:
                raise AgentError("CONSOLE needs one line")
            self.server.write(line)
            return {}
        if action == "LOGS":
            return {"content": self.output.tail(max(1, int(command.get("lines") or 200)))}
        if action == "INSTALL":
            with self.installing:
                return install(self.options.plugins_dir, command)
        raise AgentError(f"this agent does not know how to {action}")

    # Life.

    def fetch_bundle(self):
        path = "/api/plugin/provisioning/agent/" + urllib.parse.quote(self.options.server_type, safe="")
        with tempfile.TemporaryFile() as archive:
            try:
                self.hub.request("GET", path, timeout=300, into=archive)
            except HubError as error:
                log("there is no bundle" if error.status == 404 else str(error))
                return error.status == 404
            try:
                unpack(archive, self.options.bundle_dir, f"{self.options.server_type}.bundle".replace("/", "_"))
                log(f"unpacked the bundle into {self.options.bundle_dir}")
            except (AgentError, OSError, zipfile.BadZipFile, tarfile.TarError) as error:
                log(f"the bundle could not be unpacked: {error}")
        return True

    def run(self):
        handed = taken_state()
        signal.signal(signal.SIGTERM, lambda *_: self.ending.set())
        signal.signal(signal.SIGINT, lambda *_: self.ending.set())
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTERM, signal.SIGINT))
        if handed:
            self.output.restore(handed["output"])
            self.commands.extend(handed["commands"])
            self.server.take_over(handed["server"])
            log(f"this is version {self.version[:12]}; the server went on")
        else:
            log(f"this is version {self.version[:12]} for {self.options.server_id} on {self.options.node_id}")
            self.boot()
        for name, work in (("poll", self.poll), ("changes", self.tell_changes), ("ship", self.ship),
                           ("logins", self.tell_logins), ("update", self.update), ("work", self.work)):
            self.spawn(name, work)
        while not self.ending.wait(0.2):
            self.server.watch()
            if self.updated.is_set():
                self.updated.clear()
                self.become_next()
        self.end()

    def boot(self):
        if self.options.bundle_dir and self.options.server_type:
            back_off = BackOff()
            while not self.fetch_bundle() and not self.ending.wait(back_off.delay()):
                pass
        if not self.options.no_start:
            try:
                self.server.start()
            except AgentError as error:
                log(str(error))

    def end(self):
        """The agent is told to go: the server goes first."""
        log("stopping")
        self.server.closed = True
        self.server.stop()
        while self.server.pid is not None:
            self.server.watch()
            time.sleep(0.1)
        try:
            # The last word: it has exited. What is asked now is not done any more.
            self.hub.poll(self.report(), 0)
        except HubError as error:
            log(str(error))
        self.leaving.set()
        self.output.news.set()
        for thread in self.threads:
            if thread.name == "ship":
                thread.join(timeout=5.0)
        log("stopped")

    def become_next(self):
        """Runs the new version in this process's place. The server is still its child and its pipes stay open."""
        self.leaving.set()
        for event in (self.server.changed, self.output.news, self.logins.news, self.commanded):
            event.set()
        try:
            # Ends the poll that waits.
            self.take(0)
        except HubError:
            pass
        deadline = time.monotonic() + POLL_WAIT_MS / 1000 + 5
        for thread in self.threads:
            if thread.name in ("poll", "changes", "work", "ship"):
                thread.join(timeout=max(0.1, deadline - time.monotonic()))
        # A download is not cut off, unless it takes too long.
        waited = self.installing.acquire(timeout=60)
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM, signal.SIGINT))
        server = self.server.hand_over()
        state = {"server": server, "output": self.output.state(), "commands": list(self.commands)}
        try:
            file = tempfile.TemporaryFile()
            file.write(json.dumps(state).encode())
            file.flush()
            os.set_inheritable(file.fileno(), True)
            environment = {**os.environ, HANDOVER: str(file.fileno())}
            os.execve(sys.executable, [sys.executable, self.path, *sys.argv[1:]], environment)
        except OSError as error:
            log(f"the new version could not be run: {error}; this one goes on")
        self.server.keep()
        if waited:
            self.installing.release()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTERM, signal.SIGINT))
        self.leaving.clear()
        self.threads.clear()
        for name, work in (("poll", self.poll), ("changes", self.tell_changes), ("ship", self.ship), ("work", self.work),
                           ("logins", self.tell_logins), ("update", self.update)):
            self.spawn(name, work)


def taken_state():
    """What the version before left, if there was one."""
    fd = os.environ.pop(HANDOVER, None)
    if fd is None:
        return None
    with os.fdopen(int(fd), "rb") as file:
        file.seek(0)
        return json.loads(codecs.decode(file.read(), "utf-8"))


# --- The command line --------------------------------------------------------------------------


def key_value(text):
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="hub_agent.py",
        usage="hub_agent.py [options] -- COMMAND [ARGUMENT ...]",
        description="Runs one game server for a Network Hub: start, stop, restart, kill, console, logs and plugins "
        "by the hub's routes. Give the server's command line behind --; with --container, what the container runs.",
        epilog="The API key (scope `agent`) comes from HUB_API_KEY or from the file HUB_API_KEY_FILE names, never from the "
        "command line, where others could read it. The server does not see it. Every option that shows a HUB_ name can "
        "be given by that environment variable.")
    env = os.environ.get
    parser.add_argument("--version", action="store_true", help="print this file's SHA-256 and end")
    parser.add_argument("--hub", metavar="URL", default=env("HUB_URL"), help="the hub's address (HUB_URL)")
    parser.add_argument("--server-id", metavar="ID", default=env("HUB_SERVER_ID"),
                        help="the server this agent runs (HUB_SERVER_ID)")
    parser.add_argument("--server-type", metavar="TYPE", default=env("HUB_SERVER_TYPE"),
                        help="its type, for the bundle (HUB_SERVER_TYPE)")
    parser.add_argument("--node-id", metavar="ID", default=env("HUB_NODE_ID") or socket.gethostname(),
                        help="this machine (HUB_NODE_ID; default: its host name)")
    parser.add_argument("--workdir", metavar="DIR", default=env("HUB_WORKDIR") or ".",
                        help="where the server runs (HUB_WORKDIR; default: here)")
    parser.add_argument("--env", metavar="NAME=VALUE", type=key_value, action="append", default=[],
                        help="an environment variable of the server; may be given more than once")
    parser.add_argument("--no-start", action="store_true", help="wait for START instead of starting the server at once")
    parser.add_argument("--restart", choices=("never", "on-failure", "always"), default=env("HUB_RESTART") or "never",
                        help="whether to start the server again, after 5 s and then later and later, when it goes down by "
                        "itself (HUB_RESTART; default: never)")
    parser.add_argument("--stop-command", metavar="LINE", default=env("HUB_STOP_COMMAND"),
                        help="what stops the server when written to its console, such as `stop` "
                        "(HUB_STOP_COMMAND; default: SIGTERM)")
    parser.add_argument("--stop-timeout", metavar="SECONDS", type=float, default=120.0,
                        help="kill a server that was told to stop and has not after this time; 0: never (default: 120)")
    parser.add_argument("--memory-limit", metavar="SIZE", type=parse_size, default=0,
                        help="kill the server when it and what it started hold more memory than this, such as 4G")
    parser.add_argument("--plugins-dir", metavar="DIR", default=env("HUB_PLUGINS_DIR"),
                        help="where INSTALL puts plugins (HUB_PLUGINS_DIR; default: plugins in the working directory)")
    parser.add_argument("--bundle-dir", metavar="DIR", default=env("HUB_BUNDLE_DIR"),
                        help="unpack the server type's bundle here before the first start (HUB_BUNDLE_DIR)")
    parser.add_argument("--container", metavar="IMAGE", help="run the server in a container of this image")
    parser.add_argument("--container-name", metavar="NAME", help="its name (default: hub- and the server's id)")
    parser.add_argument("--container-arg", metavar="ARGUMENT", action="append", default=[],
                        help="an argument for the engine's `run`, as --container-arg=--publish=25565:25565; "
                        "may be given more than once")
    parser.add_argument("--engine", metavar="PROGRAM", help="docker or podman (default: whichever there is)")
    parser.add_argument("--update-interval", metavar="SECONDS", type=float, default=300.0,
                        help="how often to look for a newer agent; 0: never (default: 300)")
    parser.add_argument("command", metavar="COMMAND", nargs="*", help="the server's command line")
    options = parser.parse_args(arguments)
    if options.version:
        return options
    for value, option in ((options.hub, "--hub"), (options.server_id, "--server-id")):
        if not value:
            parser.error(f"{option} is needed")
    if not options.command and not options.container:
        parser.error("the server's command line is needed, behind --")
    options.env = dict(options.env)
    options.plugins_dir = options.plugins_dir or os.path.join(options.workdir, "plugins")
    if options.container:
        options.engine = options.engine or shutil.which("docker") or shutil.which("podman")
        if not options.engine:
            parser.error("neither docker nor podman is here")
        options.container_name = options.container_name or "hub-" + re.sub(r"[^A-Za-z0-9_.-]", "-", options.server_id)
    return options


def read_key():
    key, file = os.environ.get("HUB_API_KEY"), os.environ.get("HUB_API_KEY_FILE")
    if not key and file:
        key = read_text(file)
    if not key or not key.strip():
        raise SystemExit("hub-agent: no API key: set HUB_API_KEY, or HUB_API_KEY_FILE to a file that holds it")
    return key.strip()


def main():
    options = parse(sys.argv[1:])
    if options.version:
        with open(__file__, "rb") as file:
            print(hashlib.sha256(file.read()).hexdigest())
        return
    Agent(options, read_key()).run()


if __name__ == "__main__":
    main()
