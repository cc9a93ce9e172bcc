# --- The agent ---------------------------------------------------------------------------------


class Agent:
    """The whole agent."""

    def __init__(self, options, key):
        self.options = options
        self.hub = Hub(options.hub, key, options.server_id)
        self.output = Output()
        self.logins = Logins()
        kind = Container if options.container else Server
        self.server = kind(options, self.output, self.logins.notice)
        self.vanilla = Vanilla(options, self.hub, self.server) if options.management else None
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

    def spawn_all(self):
        for name, work in (("poll", self.poll), ("changes", self.tell_changes), ("ship", self.ship),
                           ("logins", self.tell_logins), ("update", self.update), ("work", self.work)):
            self.spawn(name, work)
        if self.vanilla:
            self.spawn("vanilla", lambda: self.vanilla.run(self.leaving))
            self.spawn("stream", lambda: self.vanilla.stream.run(self.vanilla.online, self.leaving))

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
                    log("the hub is reachable again")
                back_off.reset()
                # Another agent for the same server would end each poll at once.
                self.leaving.wait(max(0.0, 0.1 - (time.monotonic() - began)))
            except HubError as error:
                delay = back_off.delay()
                log(f"{error}; retrying in {delay:.1f} s")
                self.leaving.wait(delay)

    def tell_changes(self):
        """Sends the current state; the waiting poll only sent the state at its beginning."""
        while not self.leaving.is_set():
            if not self.server.changed.wait(1.0):
                continue
            self.server.changed.clear()
            try:
                self.take(0)
            except HubError:
                # The next poll reports it.
                pass

    def ship(self):
        back_off = BackOff()
        while True:
            if self.leaving.is_set() and not self.ending.is_set():
                # Remaining lines go to the next version.
                return
            lines, dropped = self.output.batch()
            if not lines:
                if self.leaving.is_set():
                    return
                self.output.news.wait(1.0)
                self.output.news.clear()
                # Lines come in bursts.
                time.sleep(0.05)
                continue
            try:
                self.hub.ship(lines)
                self.output.shipped(lines, dropped)
                back_off.reset()
            except HubError as error:
                if error.status == 400:
                    # A repetition would be refused, too.
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
                log("reported a login that waits for the owner to the hub")
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
        current = json.loads(self.hub.request("GET", "/api/plugin/provisioning/agent-version"))
        wanted = current["sha256"]
        if wanted in (self.version, self.tried):
            return
        script = self.hub.request("GET", "/api/plugin/provisioning/agent-script", timeout=60)
        if hashlib.sha256(script).hexdigest() != wanted:
            raise ValueError("the script has another SHA-256 than announced")
        signatures = (current.get("signature"), current.get("previousSignature"))
        if not any(is_signed(script, signature) for signature in signatures):
            self.tried = wanted
            raise ValueError("the script is not signed by the hub of this one; download it again if you trust it")
        handle, partial = tempfile.mkstemp(prefix=".hub-agent-", suffix=".py", dir=os.path.dirname(self.path))
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(script)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(partial, os.stat(self.path).st_mode & 0o777)
            try:
                compile(script, self.path, "exec")
                subprocess.run([sys.executable, partial, "--version"], check=True, timeout=60, env=clean_environment(),
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
                # A download may take a while.
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
            if line.strip().lstrip("/") in SAVES and self.vanilla and self.vanilla.can_save():
                return self.vanilla.save()
            self.server.write(line)
            return {}
        if action == "LOGS":
            return {"content": self.output.tail(max(1, int(command.get("lines") or 200)))}
        if action == "INSTALL":
            with self.installing:
                return install(self.options, command)
        raise AgentError(f"this agent does not support {action}")

    # Lifecycle.

    def fetch_bundle(self):
        path = "/api/plugin/provisioning/agent/" + urllib.parse.quote(self.options.server_type, safe="")
        with tempfile.TemporaryFile() as archive:
            try:
                self.hub.request("GET", path, timeout=300, into=archive)
            except HubError as error:
                log("there is no bundle" if error.status == 404 else str(error))
                return error.status == 404
            try:
                name = f"{self.options.server_type}.bundle".replace("/", "_")
                put(self.options, "bundle", self.options.bundle_dir, name, archive)
                log(f"unpacked the bundle into {self.options.bundle_dir}")
            except (AgentError, OSError, zipfile.BadZipFile, tarfile.TarError, subprocess.SubprocessError) as error:
                log(f"the bundle could not be unpacked: {error}")
        return True

    def run(self, handed):
        signal.signal(signal.SIGTERM, lambda *_: self.ending.set())
        signal.signal(signal.SIGINT, lambda *_: self.ending.set())
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTERM, signal.SIGINT))
        if handed:
            self.output.restore(handed["output"])
            self.commands.extend(handed["commands"])
            self.server.take_over(handed["server"])
            if self.vanilla:
                self.vanilla.restore(handed.get("vanilla"))
            log(f"this is version {self.version[:12]}; the server went on")
        else:
            log(f"this is version {self.version[:12]} for {self.options.server_id} on {self.options.node_id}")
            self.boot()
        self.spawn_all()
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
        """Stops the server, then the agent."""
        log("stopping")
        self.server.closed = True
        self.server.stop()
        while self.server.pid is not None:
            self.server.watch()
            time.sleep(0.1)
        if self.vanilla:
            self.vanilla.goodbye()
        try:
            # Final report: it has exited. Later commands are not executed any more.
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
        """Replaces this process by the new version. The server is still its child and its pipes stay open."""
        self.leaving.set()
        for event in (self.server.changed, self.output.news, self.logins.news, self.commanded):
            event.set()
        try:
            # Ends the waiting poll.
            self.take(0)
        except HubError:
            pass
        deadline = time.monotonic() + POLL_WAIT_MS / 1000 + 5
        for thread in self.threads:
            if thread.name in ("poll", "changes", "work", "ship", "vanilla"):
                thread.join(timeout=max(0.1, deadline - time.monotonic()))
        # A download is not aborted, unless it takes too long.
        waited = self.installing.acquire(timeout=60)
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM, signal.SIGINT))
        server = self.server.hand_over()
        state = {"server": server, "output": self.output.state(), "commands": list(self.commands), "key": self.hub.key}
        if self.vanilla:
            state["vanilla"] = self.vanilla.state()
        try:
            file = tempfile.TemporaryFile()
            file.write(json.dumps(state).encode())
            file.flush()
            os.set_inheritable(file.fileno(), True)
            # The key is passed in an unnamed file: others may look at this process until it has begun.
            environment = {**clean_environment(), HANDOVER: str(file.fileno())}
            os.execve(sys.executable, [sys.executable, self.path, *sys.argv[1:]], environment)
        except OSError as error:
            log(f"the new version could not be run: {error}; continuing with this one")
        self.server.keep()
        if waited:
            self.installing.release()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTERM, signal.SIGINT))
        self.leaving.clear()
        self.threads.clear()
        self.spawn_all()


def taken_state():
    """State left by the previous version, if there was one."""
    fd = os.environ.pop(HANDOVER, None)
    if fd is None:
        return None
    with os.fdopen(int(fd), "rb") as file:
        file.seek(0)
        return json.loads(codecs.decode(file.read(), "utf-8"))


