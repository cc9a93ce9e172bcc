# --- A server without a plugin -----------------------------------------------------------------

# Events of the hub that such a server acts upon.
EVENTS = ("PUNISHMENT", "CONFIG_UPDATED", "CHAT", "EXECUTE_COMMAND")


class Vanilla:
    """The work of a connector, for a server that has none: over its management protocol and its console.

    One thread does it all in order: what the server and the hub tell waits in a queue. A call of the hub takes at most some seconds.
    """

    def __init__(self, options, hub, server):
        self.options, self.hub, self.server = options, hub, server
        self.address = options.management
        self.secret = None
        self.port = MINECRAFT_PORT
        self.news = queue.Queue()
        self.management = None
        # Set while the server is connected: the hub's events are read.
        self.online = threading.Event()
        self.stream = Stream(hub, EVENTS, self.stream_opened, self.event_came)
        self.running = threading.Lock()
        self.is_registered = False
        self.interval = 5.0
        self.beat_at = 0.0
        self.look_at = 0.0
        self.retry_at = 0.0
        self.back_off = BackOff()
        # Players on the server, and those of whom the hub knows.
        self.players = {}
        self.reported = {}
        # Joins and leaves that the hub does not know of yet, in their order.
        self.changes = collections.deque()
        self.bans = Bans(self)
        self.maintenance = Maintenance(self)
        self.must_read_settings = True
        self.shares_chat = True
        self.saved = threading.Event()
        server.prepare = self.prepare
        server.ask_to_stop = self.ask_to_stop

    # For the server's process.

    def prepare(self):
        """Writes the settings of the management server; the game server is down."""
        alphabet = string.ascii_letters + string.digits
        secret = "".join(secrets.choice(alphabet) for _ in range(40))
        host, port = self.address
        self.port = set_properties(self.options, {
            "management-server-enabled": "true", "management-server-host": host, "management-server-port": str(port),
            "management-server-secret": secret, "management-server-tls-enabled": "false",
            "management-server-allowed-origins": ORIGIN})["port"]
        self.secret = secret

    def ask_to_stop(self):
        """Asks for a clean shutdown; false if that is not possible."""
        try:
            return bool(self.called("minecraft:server/stop"))
        except (ConnectionGone, ManagementError) as error:
            log(f"the server could not be asked to stop: {error}")
            return False

    def can_save(self):
        management = self.management
        return management is not None and management.can("minecraft:server/save")

    def save(self):
        """Saves all worlds to the disk; the answer comes when it is done, or late."""
        self.saved.clear()
        try:
            if not self.called("minecraft:server/save", True):
                raise AgentError("the server did not begin to save")
        except (ConnectionGone, ManagementError) as error:
            raise AgentError(f"the server could not save: {error}") from error
        return {"saved": self.saved.wait(SAVE_WITHIN)}

    def called(self, method, *parameters):
        """A call from another thread; None if the server has no such method or is not connected."""
        management = self.management
        return management.call(method, *parameters) if management and management.can(method) else None

    def state(self):
        return {"secret": self.secret, "port": self.port}

    def restore(self, state):
        if state:
            self.secret, self.port = state["secret"], state["port"]
        else:
            log("the server was started without --management; it applies from the server's next start on")

    def goodbye(self):
        """The agent ends, and the server is down."""
        if self.is_registered:
            try:
                self.unregister()
            except HubError as error:
                log(str(error))

    # The thread.

    def run(self, leaving):
        # An earlier run of this thread may not have ended yet.
        with self.running:
            back_off, last = BackOff(), None
            while not leaving.is_set():
                if self.server.pid is None:
                    self.server_down(leaving)
                    last = None
                    continue
                if self.secret is None:
                    leaving.wait(0.5)
                    continue
                try:
                    self.connect(leaving)
                    back_off.reset()
                    last = None
                    self.attend(leaving)
                except Refused as error:
                    last = self.told_once(f"the server refuses the management secret ({error}); restart it with the agent", last)
                except (ConnectionGone, ManagementError) as error:
                    # A server that begins or ends has no connection for a while.
                    is_news = self.management or time.time() - self.server.started_at > BEGINS_WITHIN
                    if is_news and not self.server.stopping and self.server.pid is not None:
                        last = self.told_once(f"management: {error}", last)
                except Exception as error:  # pylint: disable=broad-except
                    last = self.told_once(f"management failed: {error!r}", last)
                finally:
                    self.disconnect()
                if self.server.pid is not None:
                    # Another machine is not involved: there is no reason to wait for long.
                    leaving.wait(min(2.0, back_off.delay()))

    @staticmethod
    def told_once(text, last):
        if text != last:
            log(text)
        return text

    def connect(self, leaving):
        news = self.news = queue.Queue()
        # Belongs to this connection alone: what an earlier one still tells is lost with its queue.
        management = Management(self.address, self.secret, lambda method, parameters: self.server_told(news, method, parameters))
        self.management = management
        while not leaving.is_set() and not self.has_started():
            leaving.wait(0.5)
        log(f"connected to the server by the management protocol {management.version}")

    def has_started(self):
        try:
            status = self.management.call("minecraft:server/status")
            return isinstance(status, dict) and status.get("started") is True
        except ManagementError:
            # Some versions refuse all calls until then.
            return False

    def server_told(self, news, method, parameters):
        if method == "minecraft:notification/server/saved":
            self.saved.set()
        news.put((method, parameters))

    def disconnect(self):
        management, self.management = self.management, None
        self.online.clear()
        if management:
            management.close()

    def server_down(self, leaving):
        """Tells the hub that nobody is here, and that nobody can come."""
        self.players, self.reported = {}, {}
        self.changes.clear()
        if self.is_registered:
            try:
                self.unregister()
            except HubError as error:
                if error.passes():
                    leaving.wait(self.back_off.delay())
                    return
        leaving.wait(0.2)

    def unregister(self):
        self.hub.request("POST", f"/api/plugin/servers/unregister?serverId={self.hub.server}", timeout=HUB_WITHIN)
        self.is_registered = False

    # While the server is connected.

    def attend(self, leaving):
        self.must_read_settings = True
        self.retry_at = self.look_at = 0.0
        self.look()
        self.bans.begin()
        self.online.set()
        while not leaving.is_set():
            now = time.monotonic()
            if now >= self.look_at:
                self.look()
            if now >= self.retry_at:
                self.tell_hub()
            due = min(self.look_at, max(self.retry_at, self.beat_at if not self.has_work() else 0.0))
            try:
                kind, content = self.news.get(timeout=min(1.0, max(0.01, due - time.monotonic())))
            except queue.Empty:
                continue
            self.handle(kind, content)

    def has_work(self):
        return bool(self.changes) or self.must_read_settings or self.bans.has_work() or not self.is_registered

    def look(self):
        """Compares with the server's own list: it may have told of something before this connection."""
        self.look_at = time.monotonic() + LOOK_EVERY
        listed = self.call("minecraft:players")
        if listed is None:
            return
        found = {player["id"]: player["name"] for player in listed if is_player(player)}
        for player in [each for each in self.players if each not in found]:
            self.left(player)
        for player, name in found.items():
            self.joined(player, name)

    def call(self, method, *parameters):
        """A call whose failure concerns this method alone; None then, or if the server does not have it."""
        if not self.management.can(method):
            return None
        try:
            return self.management.call(method, *parameters)
        except ManagementError as error:
            log(f"{method}: {error}")
            return None

    def joined(self, player, name):
        if player not in self.players:
            self.players[player] = name
            self.changes.append(("join", player, name))

    def left(self, player):
        if self.players.pop(player, None) is None:
            return
        join = next((change for change in self.changes if change[:2] == ("join", player)), None)
        if join and player not in self.reported:
            # A visit that the hub never knew of: telling it late could take the player off another server.
            self.changes.remove(join)
        else:
            self.changes.append(("leave", player, None))

    def handle(self, kind, content):
        if kind == "gone":
            raise self.management.gone
        if kind == "minecraft:notification/players/joined":
            player = only(content, "player")
            if is_player(player):
                self.joined(player["id"], player["name"])
        elif kind == "minecraft:notification/players/left":
            player = only(content, "player")
            if isinstance(player, dict) and "id" in player:
                self.left(player["id"])
        elif kind.startswith(("minecraft:notification/bans/", "minecraft:notification/ip_bans/")):
            self.bans.noticed(kind.removeprefix("minecraft:notification/"), content)
        elif kind == "minecraft:notification/server/stopping":
            log("the server is stopping")
        elif kind == "resync":
            self.must_read_settings = True
            self.bans.begin()
        elif kind == "PUNISHMENT":
            self.bans.heard(content)
        elif kind == "CONFIG_UPDATED":
            if (content.get("group"), content.get("namespace")) == SETTINGS:
                self.must_read_settings = True
        elif kind == "CHAT":
            self.show_chat(content)
        elif kind == "EXECUTE_COMMAND":
            self.execute(content)

    def show_chat(self, line):
        """Shows a line from another server; the management protocol does not tell what is said on this one."""
        if self.shares_chat and line.get("serverId") != self.options.server_id and self.players:
            self.tell(f"<{line.get('playerName')}> {line.get('message')}")

    def tell(self, text, player=None):
        message = {"message": literal(text), "overlay": False}
        if player:
            message["receivingPlayers"] = [{"id": player}]
        self.call("minecraft:server/system_message", message)

    def kick(self, players, text):
        kicked = [{"player": {"id": player}, "message": literal(text)} for player in players]
        if kicked:
            self.call("minecraft:players/kick", kicked)

    def execute(self, order):
        if now_ms() > order["at"] + order["timeoutMs"]:
            return
        answer = {"requestId": order["requestId"], "success": True, "output": "Written to the console; its answer is in the server's log."}
        try:
            self.server.write(order["command"].replace("\n", " "))
        except AgentError as error:
            answer.update(success=False, output=None, error=str(error))
        try:
            self.hub.request("POST", "/api/plugin/servers/command-result", answer, timeout=HUB_WITHIN)
        except HubError as error:
            log(str(error))

    # The hub. Each of these does one call, and raises HubError if it has to be done again.

    def stream_opened(self, is_again):
        if not is_again:
            # The settings and bans may have changed before the stream began.
            self.news.put(("resync", None))

    def event_came(self, kind, event):
        self.news.put(("resync" if kind == "RESYNC" else kind, event))

    def tell_hub(self):
        """Does the next thing that is due at the hub."""
        try:
            if not self.is_registered:
                self.register()
            elif time.monotonic() >= self.beat_at:
                self.beat()
            elif self.changes:
                self.tell_next_change()
            elif self.must_read_settings:
                self.read_settings()
                self.must_read_settings = False
            elif self.bans.has_work():
                self.bans.work()
            else:
                return
            if self.back_off.failures:
                log("the hub is reachable again")
            self.back_off.reset()
        except HubError as error:
            if error.code == "unknown_server":
                self.is_registered = False
                return
            if not self.back_off.failures:
                log(str(error))
            self.retry_at = time.monotonic() + self.back_off.delay()

    def register(self):
        limit = self.call("minecraft:serversettings/max_players")
        version = self.management.version
        body = {"serverId": self.options.server_id, "serverType": self.options.server_type or "game", "gameType": "MINECRAFT",
                "port": self.port, "platformName": "Minecraft", "platformVersion": f"management protocol {version}"}
        if self.options.game_host:
            body["host"] = self.options.game_host
        if isinstance(limit, int):
            body["maxPlayers"] = limit
        answer = self.hub.request("POST", "/api/plugin/servers/register", body, timeout=HUB_WITHIN)
        self.interval = max(1.0, json.loads(answer)["heartbeatIntervalMs"] / 1000)
        self.is_registered = True
        self.beat_at = time.monotonic() + self.interval
        log(f"registered as {self.options.server_id}")

    def beat(self):
        body = {"serverId": self.options.server_id}
        if not self.changes:
            # Unlisted players have left, so a list that is not complete yet would send them away.
            body["players"] = [{"uuid": player, "name": name} for player, name in self.reported.items()]
        self.hub.request("POST", "/api/plugin/servers/heartbeat", body, timeout=HUB_WITHIN)
        self.beat_at = time.monotonic() + self.interval

    def tell_next_change(self):
        try:
            self.tell_change(*self.changes[0])
        except HubError as error:
            if error.passes() or error.code == "unknown_server":
                raise
            # A repetition would be refused, too, and must not hold up the others.
            log(str(error))
        self.changes.popleft()

    def tell_change(self, kind, player, name):
        if kind == "leave":
            path = f"/api/plugin/servers/players/{player}?serverId={self.hub.server}"
            self.hub.request("DELETE", path, timeout=HUB_WITHIN)
            self.reported.pop(player, None)
        elif not self.bans.keep_out(player, name):
            body = {"serverId": self.options.server_id, "playerUuid": player, "playerName": name}
            self.hub.request("POST", "/api/plugin/servers/players", body, timeout=HUB_WITHIN)
            self.reported[player] = name

    def read_settings(self):
        try:
            answer = self.hub.request("GET", f"/api/plugin/config/{SETTINGS[0]}/{SETTINGS[1]}", timeout=HUB_WITHIN)
            document = json.loads(answer).get("doc")
        except HubError as error:
            if error.status != 404:
                raise
            document = None
        document = document if isinstance(document, dict) else {}
        self.shares_chat = document.get("networkChat") is not False
        found = document.get("maintenance")
        self.maintenance.apply(found if isinstance(found, dict) else {})


def is_player(player):
    return isinstance(player, dict) and isinstance(player.get("id"), str) and isinstance(player.get("name"), str)


