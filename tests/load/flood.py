"""Calls a hub as fast as possible, like a hostile network."""

import collections
import itertools
import selectors
import socket
import time

BUFFER = bytearray(1 << 20)


class Connection:
    """One connection, with a request under way on it."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.unsent, self.head, self.left, self.tail = b"", b"", None, None

    def send(self, message):
        self.unsent, self.head, self.left, self.tail = memoryview(message), b"", None, None
        self.flush()

    def flush(self):
        try:
            while self.unsent:
                self.unsent = self.unsent[self.socket.send(self.unsent) :]
        except BlockingIOError:
            pass

    def receive(self):
        """Reads available bytes; returns the status of a complete answer, and raises when the connection ended."""
        while True:
            try:
                count = self.socket.recv_into(BUFFER)
            except BlockingIOError:
                return None
            if count == 0:
                raise ConnectionError("closed")
            if self.left is None:
                self.head += bytes(BUFFER[:count])
                end = self.head.find(b"\r\n\r\n")
                if end < 0:
                    continue
                fields = self.head[:end].lower()
                at = fields.find(b"content-length:")
                length = int(fields[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
                self.left = length - (len(self.head) - end - 4)
                self.tail = self.head[end:] if b"transfer-encoding: chunked" in fields else None
            else:
                self.left -= count
                if self.tail is not None:
                    self.tail = (self.tail + bytes(BUFFER[max(0, count - 7) : count]))[-7:]
            # Of unknown length: its last chunk is empty.
            if self.left <= 0 if self.tail is None else self.tail.endswith(b"\r\n0\r\n\r\n"):
                return int(self.head[9:12])


def flood(port, messages, connections, seconds, results):
    """Sends the messages in turn over that many connections, each as soon as its last one is answered. Puts into
    `results` the number of answers by status."""
    statuses, selector, messages = collections.Counter(), selectors.DefaultSelector(), itertools.cycle(messages)
    end = time.perf_counter() + seconds

    def begin():
        try:
            connection = Connection(port)
            selector.register(connection.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, connection)
            connection.send(next(messages))
        except OSError as error:
            statuses[type(error).__name__] += 1

    for _ in range(connections):
        begin()
    while time.perf_counter() < end:
        for selected, _ in selector.select(0.2):
            connection = selected.data
            try:
                connection.flush()
                wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if connection.unsent else 0)
                selector.modify(connection.socket, wanted, connection)
                status = connection.receive()
                if status:
                    statuses[status] += 1
                    connection.send(next(messages))
            except OSError as error:
                statuses[type(error).__name__] += 1
                selector.unregister(connection.socket)
                connection.socket.close()
                begin()
    results.put(dict(statuses))


def hold_open(port, messages, connections, seconds, results):
    """Opens that many connections, sends one message on each and reads nothing until the end. Puts into `results` each
    answer: a status, nothing yet (`silent`), or that the hub closed it (`closed`)."""
    statuses, sockets = collections.Counter(), []
    end = time.perf_counter() + seconds
    for message in itertools.islice(itertools.cycle(messages), connections):
        try:
            connection = socket.create_connection(("127.0.0.1", port), timeout=1)
            connection.sendall(message)
            sockets.append(connection)
        except OSError as error:
            statuses[type(error).__name__] += 1
        if time.perf_counter() > end:
            break
    time.sleep(max(0, end - time.perf_counter()))
    for connection in sockets:
        connection.setblocking(False)
        try:
            head = connection.recv(12)
            statuses[int(head[9:12]) if head else "closed"] += 1
        except BlockingIOError:
            statuses["silent"] += 1
        except OSError as error:
            statuses[type(error).__name__] += 1
        connection.close()
    results.put(dict(statuses))
