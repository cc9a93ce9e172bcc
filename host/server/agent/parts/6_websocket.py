# --- WebSocket ---------------------------------------------------------------------------------


class ConnectionGone(Exception):
    """The connection to the server ended, or could not be opened."""


class Refused(ConnectionGone):
    """The server does not take the secret."""


class WebSocket:
    """The client's side of a WebSocket (RFC 6455) without encryption: texts in both directions."""

    def __init__(self, host, port, headers, timeout):
        self.lock = threading.Lock()
        self.held = b""
        try:
            self.socket = socket.create_connection((host, port), timeout=timeout)
        except OSError as error:
            raise ConnectionGone(f"no connection to port {port}: {error}") from error
        try:
            self.upgrade(host, port, headers, time.monotonic() + timeout)
        except BaseException:
            self.socket.close()
            raise

    def upgrade(self, host, port, headers, deadline):
        key = base64.b64encode(os.urandom(16)).decode()
        lines = ["GET / HTTP/1.1", f"Host: {host}:{port}", "Connection: Upgrade", "Upgrade: websocket",
                 f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", *headers]
        self.write("\r\n".join([*lines, "", ""]).encode())
        while b"\r\n\r\n" not in self.held:
            if len(self.held) > 16_384:
                raise ConnectionGone("the answer to the upgrade is too long")
            self.fill(deadline)
        head, _, self.held = self.held.partition(b"\r\n\r\n")
        status, *lines = head.decode("latin-1").split("\r\n")
        words = status.split(" ", 2)
        if len(words) < 2 or words[1] != "101":
            kind = Refused if words[1:2] in (["401"], ["403"]) else ConnectionGone
            raise kind(f"the server answered {status[:100]!r}")
        answered = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        expected = base64.b64encode(hashlib.sha1((key + WEBSOCKET_ID).encode()).digest()).decode()
        if answered.get("sec-websocket-accept") != expected:
            raise ConnectionGone("the port does not speak WebSocket")

    def write(self, data):
        try:
            with self.lock:
                self.socket.sendall(data)
        except OSError as error:
            raise ConnectionGone(f"the connection ended: {error}") from error

    def fill(self, deadline=None):
        """Reads some bytes more."""
        try:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not select.select([self.socket], [], [], left)[0]:
                raise ConnectionGone("the server does not answer")
            data = self.socket.recv(65_536)
        except (OSError, ValueError) as error:
            raise ConnectionGone(f"the connection ended: {error}") from error
        if not data:
            raise ConnectionGone("the server closed the connection")
        self.held += data

    def take(self, count):
        while len(self.held) < count:
            self.fill()
        taken, self.held = self.held[:count], self.held[count:]
        return taken

    def frame(self):
        """The next frame: true if it is a message's last, its kind, its content."""
        first, second = self.take(2)
        size = second & 0x7F
        if first & 0x70 or second & 0x80:
            raise ConnectionGone("the server sent an invalid frame")
        if size == 126:
            size = int.from_bytes(self.take(2), "big")
        elif size == 127:
            size = int.from_bytes(self.take(8), "big")
        if size > LONGEST_MESSAGE:
            raise ConnectionGone("the server sent a message that is too long")
        return bool(first & 0x80), first & 0x0F, self.take(size)

    def receive(self):
        """The next text. Answers pings meanwhile."""
        parts, size = [], 0
        while True:
            is_last, kind, content = self.frame()
            if kind == 8:
                self.write(masked(8, content[:2]))
                raise ConnectionGone("the server closed the connection")
            if kind == 9:
                self.write(masked(10, content))
            if kind >= 8:
                continue
            if (kind == 0) != bool(parts) or kind > 2:
                raise ConnectionGone("the server sent an invalid frame")
            parts.append(content)
            size += len(content)
            if size > LONGEST_MESSAGE:
                raise ConnectionGone("the server sent a message that is too long")
            if is_last:
                return b"".join(parts).decode("utf-8", "replace")

    def send(self, text):
        self.write(masked(1, text.encode()))

    def close(self):
        try:
            # Wakes the reader; a close of the file descriptor would not.
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def release(self):
        self.close()
        self.socket.close()


def masked(kind, content):
    """A frame from the client, whose content is masked."""
    size = len(content)
    if size < 126:
        head = bytes([0x80 | kind, 0x80 | size])
    elif size < 65_536:
        head = bytes([0x80 | kind, 0x80 | 126]) + size.to_bytes(2, "big")
    else:
        head = bytes([0x80 | kind, 0x80 | 127]) + size.to_bytes(8, "big")
    mask = os.urandom(4)
    return head + mask + bytes(byte ^ mask[at & 3] for at, byte in enumerate(content))


