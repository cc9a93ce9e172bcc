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
        """The newest lines as one text, within the size limit of an answer."""
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
        """Forgets a batch. Lines dropped meanwhile may have been part of it."""
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
        # Held while bytes are being processed, so that a handover loses none.
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


