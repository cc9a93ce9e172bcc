# --- The hub's events --------------------------------------------------------------------------


class Stream:
    """The hub's event stream of this server, opened again whenever it ends."""

    def __init__(self, hub, types, opened, heard):
        self.hub, self.types, self.opened, self.heard = hub, types, opened, heard
        self.last_id = None
        self.running = threading.Lock()

    def run(self, wanted, leaving):
        """Listens while the server is wanted, until the agent leaves."""
        back_off = BackOff()
        # An earlier version of this thread may still wait for a line.
        with self.running:
            while not leaving.is_set():
                if not wanted.wait(0.5):
                    continue
                try:
                    self.listen(wanted, leaving, back_off)
                except HubError as error:
                    if not back_off.failures:
                        log(str(error))
                    leaving.wait(back_off.delay())

    def listen(self, wanted, leaving, back_off):
        path = f"/api/plugin/events?serverId={self.hub.server}&types={','.join(self.types)}"
        headers = {"Accept": "text/event-stream"}
        if self.last_id:
            headers["Last-Event-ID"] = self.last_id
        with self.hub.stream(path, headers, SILENCE) as lines:
            back_off.reset()
            is_new, event = True, {}
            for line in lines:
                if leaving.is_set() or not wanted.is_set():
                    return
                if is_new:
                    is_new = False
                    self.opened(self.last_id is not None)
                if line:
                    name, _, value = line.partition(":")
                    event[name] = value[1:] if value.startswith(" ") else value
                    continue
                if "data" in event and "event" in event:
                    try:
                        self.heard(event["event"], json.loads(event["data"]))
                    except ValueError:
                        log(f"an event is no JSON: {event['data'][:100]}")
                self.last_id = event.get("id") or self.last_id
                event = {}
        raise HubError("the event stream ended")


