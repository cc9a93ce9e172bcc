# --- The server --------------------------------------------------------------------------------


class Server:
    """The server as a child process, or as the engine's client attached to its container."""

    def __init__(self, options, output, noticed):
        self.options, self.output, self.noticed = options, output, noticed
        # Work before each start, and another way to ask for a shutdown; the latter answers false where it does not work.
        self.prepare = lambda: None
        self.ask_to_stop = lambda: False
        self.lock = threading.RLock()
        self.changed = threading.Event()
        self.pid = None
        self.popen = None
        self.stdin = -1
        # Rest of a write to a full pipe; it goes first next time.
        self.stdin_rest = b""
        self.writing = threading.Lock()
        self.readers = []
        self.started_at = 0.0
        self.ended_after = 0.0
        self.exit_code = None
        self.signal = None
        self.out_of_memory = False
        # Reason for the agent's kill of the server, if any.
        self.killed = None
        self.java_out_of_memory = False
        self.stop_by = None
        self.stopping = False
        self.start_again = False
        # The agent is leaving: nothing is started any more.
        self.closed = False
        # Number of crashes in a row, and time of the next start.
        self.crashes = 0
        self.restart_at = None
        self.measure_at = 0.0
        # Counts of out-of-memory kills, at the last check and at the one before.
        self.kills = {}
        self.kills_before = {}

    # Commands of the hub.

    def start(self):
        with self.lock:
            if self.closed:
                raise AgentError("the agent is stopping")
            self.crashes = 0
            if self.pid is not None:
                if self.stopping:
                    # A start command during a shutdown restarts the server.
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
        # Not under the lock: a server that does not read would block the agent.
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
        """Writes a line to the server's console, completely or, after a time limit, not at all."""
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
        """Writes as much as possible; returns true if all was written."""
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

    # Operations on a process; a container overrides them.

    def command(self):
        return self.options.command

    def environment(self):
        environment = clean_environment()
        user = self.options.user
        if user:
            environment.update(HOME=user.pw_dir, USER=user.pw_name, LOGNAME=user.pw_name)
        environment.update(self.options.env)
        return environment

    def tell_to_stop(self):
        if self.options.stop_command:
            try:
                return self.write(self.options.stop_command)
            except AgentError as error:
                log(f"the stop command could not be written ({error}); sending SIGTERM")
        elif self.ask_to_stop():
            return None
        return self.signal_server(signal.SIGTERM)

    def signal_server(self, number):
        with self.lock:
            if self.pid is not None:
                try:
                    # It leads a session of its own: its children get the signal too.
                    os.killpg(self.pid, number)
                except ProcessLookupError:
                    pass

    def how_it_ended(self, status, kernel_killed):
        """Exit code, signal, and true if it was out of memory."""
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            return 128 + number, number, number == signal.SIGKILL and self.killed is None and kernel_killed
        code = os.WEXITSTATUS(status)
        # A shell in between reports its child's signal like this.
        killed = code == 128 + signal.SIGKILL and self.killed is None and kernel_killed
        return code, None, killed or (code != 0 and self.java_out_of_memory)

    def kernel_killed(self):
        """True if the kernel has made an out-of-memory kill since the last check."""
        before = self.kills_before
        return any(before.get(place) is not None and count is not None and count > before[place]
                   for place, count in oom_kills().items())

    # Start and end.

    def launch(self):
        options = self.options
        self.prepare()
        command = self.command()
        out_read, out_write = os.pipe()
        err_read, err_write = os.pipe()
        in_read, in_write = os.pipe()
        try:
            popen = subprocess.Popen(
                command, cwd=options.workdir, env=self.environment(), stdin=in_read, stdout=out_write,
                stderr=err_write, start_new_session=True, close_fds=True, **as_user(options.user))
        except (OSError, ValueError, subprocess.SubprocessError) as error:
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
        # Not reaped yet: a handover in between leaves it to the next version.
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        # The counters cover the last moments only, and those pass.
        kernel_killed = self.kernel_killed()
        # Its last output may contain the reason.
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
        """Handles an exit that was not requested."""
        policy = self.options.restart
        if self.closed or policy == "never" or (policy == "on-failure" and self.exit_code == 0):
            return
        # One that ran for a while is not in a loop of crashes.
        self.crashes = 0 if self.ended_after > 600 else self.crashes + 1
        self.restart_at = time.monotonic() + min(300.0, 5.0 * 2 ** min(self.crashes - 1, 10)) * (self.crashes > 0)

    def watch(self):
        """Regular work; call it several times a second."""
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
            # Last moments only: another process's earlier death has nothing to do with this one's.
            self.kills_before, self.kills = self.kills, oom_kills()

    def measure(self):
        began = time.monotonic()
        if session_memory(self.pid) > self.options.memory_limit:
            self.out_of_memory = True
            self.send_kill("it used more memory than it may")
        # On a machine with very many processes this takes a while; it must not use much of the machine.
        self.measure_at = began + 20 * (time.monotonic() - began)

    def send_kill(self, why):
        self.killed = why
        log(f"killing the server: {why}")
        self.kill_server()

    def kill_server(self):
        self.signal_server(signal.SIGKILL)

    # Status.

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
        """State for the next version, with all locks held, so that nothing changes any more."""
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
        """Continues after a failed handover."""
        for reader in self.readers:
            if reader.fd >= 0:
                os.set_inheritable(reader.fd, False)
            reader.lock.release()
        self.lock.release()
        self.writing.release()

    def take_over(self, state):
        for name in self.FIELDS:
            # The previous version may not have known it.
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


