# Config document with the network's settings, the same as of the jars.
SETTINGS = ("network", "network-hub")


class Bans:
    """The hub's bans, in the server's own lists: so they hold at the login, also while the hub is away.

    The agent changes only entries of its own; those that staff made on the server stay as they are.
    """

    def __init__(self, vanilla):
        self.vanilla = vanilla
        # Entries of these lists by player and by address: true where the agent made them.
        self.players, self.addresses = {}, {}
        # Entries and players to ask the hub about, because events may have been missed.
        self.unsure = collections.deque()

    def begin(self):
        """Reads the lists, and asks about all of it."""
        listed = self.vanilla.call("minecraft:bans") or []
        self.players = {entry["player"].get("id"): entry.get("source") == ORIGIN for entry in listed
                        if isinstance(entry.get("player"), dict)}
        listed = self.vanilla.call("minecraft:ip_bans") or []
        self.addresses = {entry.get("ip"): entry.get("source") == ORIGIN for entry in listed}
        self.unsure = collections.deque([("online", player) for player in self.vanilla.players])
        self.unsure += [("player", player) for player, is_own in self.players.items() if is_own]
        self.unsure += [("address", address) for address, is_own in self.addresses.items() if is_own]

    def noticed(self, kind, content):
        """Keeps the lists as they are on the server: staff may change them there."""
        if kind == "bans/added":
            ban = only(content, "ban")
            if isinstance(ban, dict) and isinstance(ban.get("player"), dict):
                self.players[ban["player"].get("id")] = ban.get("source") == ORIGIN
        elif kind == "bans/removed":
            player = only(content, "player")
            if isinstance(player, dict):
                self.players.pop(player.get("id"), None)
        elif kind == "ip_bans/added":
            ban = only(content, "ban")
            if isinstance(ban, dict):
                self.addresses[ban.get("ip")] = ban.get("source") == ORIGIN
        elif kind == "ip_bans/removed":
            address = only(content, "ip")
            if isinstance(address, str):
                self.addresses.pop(address, None)

    def has_work(self):
        return bool(self.unsure)

    def work(self):
        """Asks about one of them."""
        kind, which = self.unsure[0]
        if kind == "online":
            if which in self.vanilla.players:
                self.keep_out(which, self.vanilla.players[which])
        elif kind == "player" and not self.find_ban("playerUuid", which):
            self.forget(which)
        elif kind == "address" and not self.find_ban("ip", which):
            self.forget_address(which)
        self.unsure.popleft()

    def find_ban(self, name, value):
        found = self.vanilla.hub.request("GET", f"/api/plugin/punishments/query?{urllib.parse.urlencode({name: value})}",
                                         timeout=HUB_WITHIN)
        return ban_among(json.loads(found))

    def keep_out(self, player, name):
        """Loads a player at the hub; bans and removes one who is banned there, and returns true then."""
        query = urllib.parse.urlencode({"username": name, "include": "punishments", "gameType": "MINECRAFT"})
        found = self.vanilla.hub.request("POST", f"/api/plugin/players/{player}/load?{query}", {}, timeout=HUB_WITHIN)
        ban = ban_among(json.loads(found).get("punishments") or [])
        if not ban:
            return False
        self.enforce(ban, player, name)
        return True

    def enforce(self, ban, player, name):
        entry = {"reason": reason_of(ban), "source": ORIGIN}
        if ban.get("expiresAt"):
            entry["expires"] = iso(ban["expiresAt"])
        if player and self.players.get(player) is not False:
            known = {"id": player, "name": name} if name else {"id": player}
            if self.vanilla.call("minecraft:bans/add", [{"player": known, **entry}]) is not None:
                self.players[player] = True
        address = ban.get("ipAddress") if ban.get("ipBased") or not (player or ban.get("playerName")) else None
        if address and self.addresses.get(address) is not False and is_public(address):
            if self.vanilla.call("minecraft:ip_bans/add", [{"ip": address, **entry}]) is not None:
                self.addresses[address] = True
        if player in self.vanilla.players:
            self.vanilla.kick([player], entry["reason"])

    def forget(self, player):
        if self.players.get(player):
            self.vanilla.call("minecraft:bans/remove", [{"id": player}])
            self.players.pop(player, None)

    def forget_address(self, address):
        if self.addresses.get(address):
            self.vanilla.call("minecraft:ip_bans/remove", [address])
            self.addresses.pop(address, None)

    def heard(self, event):
        """A punishment was made, changed, or is over."""
        punishment, action = event.get("punishment") or {}, event.get("action")
        player, kind = punishment.get("playerUuid"), punishment.get("type")
        is_made = action in ("CREATED", "UPDATED") and punishment.get("active")
        if not player and punishment.get("playerName"):
            wanted = punishment["playerName"].lower()
            player = next((each for each, name in self.vanilla.players.items() if name.lower() == wanted), None)
        name = self.vanilla.players.get(player) or punishment.get("playerName")
        if kind == "BAN" and is_made:
            self.enforce(punishment, player, name)
        elif kind == "BAN":
            # Another ban may still hold.
            if self.players.get(player):
                self.unsure.append(("player", player))
            if self.addresses.get(punishment.get("ipAddress")):
                self.unsure.append(("address", punishment["ipAddress"]))
        elif action == "CREATED" and player in self.vanilla.players:
            if kind == "KICK":
                self.vanilla.kick([player], reason_of(punishment))
            elif kind == "WARN":
                self.vanilla.tell(reason_of(punishment), player)


def ban_among(punishments):
    """The ban that ends last; None if there is none."""
    bans = [each for each in punishments if each.get("type") == "BAN" and each.get("active", True)]
    return max(bans, key=lambda ban: ban.get("expiresAt") or float("inf"), default=None)


def reason_of(punishment):
    return punishment.get("reason") or {"BAN": "You are banned.", "KICK": "You were removed."}.get(punishment.get("type"), "Warning")


def iso(millis):
    return datetime.datetime.fromtimestamp(millis / 1000, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def is_public(address):
    """False for addresses that players behind a proxy, or of one house, have in common."""
    try:
        return ipaddress.ip_address(address).is_global
    except ValueError:
        return False


class Maintenance:
    """Maintenance of the network by the server's allowlist, which is as before afterwards."""

    def __init__(self, vanilla):
        self.vanilla = vanilla
        name = re.sub(r"[^A-Za-z0-9_.-]", "-", vanilla.options.server_id)
        self.path = os.path.join(os.path.dirname(os.path.realpath(__file__)), f"allowlist-of-{name}.json")

    def apply(self, settings):
        try:
            with open(self.path, encoding="utf-8") as file:
                before = json.load(file)
        except FileNotFoundError:
            before = None
        except (OSError, ValueError) as error:
            return log(f"{self.path} cannot be read, so maintenance changes nothing: {error}")
        if settings.get("enabled") is True:
            self.begin(settings.get("allowed"), before)
        elif before is not None:
            self.end(before)

    def begin(self, allowed, before):
        vanilla = self.vanilla
        if before is None:
            before = {"players": vanilla.call("minecraft:allowlist"), "use": vanilla.call("minecraft:serversettings/use_allowlist"),
                      "enforce": vanilla.call("minecraft:serversettings/enforce_allowlist")}
            if None in before.values() or not self.remember(before):
                return log("the server's allowlist cannot be kept, so maintenance changes nothing")
            log("maintenance: only those on the network's list may join")
        entries = [entry.lower() for entry in allowed if isinstance(entry, str)] if isinstance(allowed, list) else []
        listed = self.players(entries)
        if vanilla.call("minecraft:allowlist/set", listed) is None:
            # One name that the server does not find is enough for that.
            vanilla.call("minecraft:allowlist/set", [player for player in listed if "id" in player])
        vanilla.call("minecraft:serversettings/use_allowlist/set", True)
        vanilla.call("minecraft:serversettings/enforce_allowlist/set", True)
        vanilla.kick([player for player, name in vanilla.players.items() if not {player.lower(), name.lower()} & set(entries)],
                     "The network is under maintenance.")

    def players(self, entries):
        """Names and UUIDs as the server takes them; it looks up names that are not online."""
        online = {name.lower(): player for player, name in self.vanilla.players.items()}
        found = []
        for entry in entries:
            try:
                found.append({"id": str(uuid.UUID(entry))})
            except ValueError:
                found.append({"id": online[entry], "name": self.vanilla.players[online[entry]]} if entry in online else {"name": entry})
        return found

    def end(self, before):
        vanilla = self.vanilla
        vanilla.call("minecraft:allowlist/set", before["players"])
        vanilla.call("minecraft:serversettings/use_allowlist/set", before["use"])
        vanilla.call("minecraft:serversettings/enforce_allowlist/set", before["enforce"])
        os.unlink(self.path)
        log("maintenance is over; the allowlist is as before")

    def remember(self, before):
        try:
            handle, partial = tempfile.mkstemp(prefix=".hub-agent-", dir=os.path.dirname(self.path))
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(before, file)
            os.replace(partial, self.path)
            return True
        except OSError as error:
            log(f"{self.path} cannot be written: {error}")
            return False


