"""A whole connector on the wire, in Python 3 and its standard library: register, heartbeat, players, events, leave.

    HUB_URL=http://127.0.0.1:8080 HUB_KEY=hub_… python3 wire.py SERVER_ID < joins-and-chat

A line of the input is what happens in the game: `join UUID NAME`, `leave UUID` or `say UUID NAME TEXT`.
"""
import json, os, sys, threading, time, urllib.error, urllib.parse, urllib.request

SERVER, PLAYERS, WORK = sys.argv[1], {}, threading.Lock()

def call(method, path, body=None):
    """One call; an error of the hub is an exception with its code."""
    data = None if body is None else json.dumps(body).encode()
    print("->", method, path, *[json.dumps(body)] * (body is not None), flush=True)
    request = urllib.request.Request(os.environ["HUB_URL"] + path, data, method=method)
    request.add_header("X-Service-Api-Key", os.environ["HUB_KEY"])
    request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=15) as answer:
            return json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        raise RuntimeError(json.loads(error.read())["code"]) from None

def register():
    return call("POST", "/api/plugin/servers/register", {"serverId": SERVER, "serverType": "lobby", "host": "127.0.0.1", "port": 25565, "maxPlayers": 20})

def beat(every):
    while True:
        time.sleep(every)
        with WORK:  # One request about players at a time: their order is what the hub believes.
            players = [{"uuid": uuid, "name": name} for uuid, name in PLAYERS.items()]
            try:
                call("POST", "/api/plugin/servers/heartbeat", {"serverId": SERVER, "players": players})
            except RuntimeError as error:
                if str(error) == "unknown_server": register()
            except OSError: pass  # The hub is away; the next heartbeat says the same.

def listen(last=None):
    query = urllib.parse.urlencode({"serverId": SERVER, "types": "CHAT,PUNISHMENT,TRANSFER,EXECUTE_COMMAND"})
    while True:
        try:
            request = urllib.request.Request(f"{os.environ['HUB_URL']}/api/plugin/events?{query}", headers={"X-Service-Api-Key": os.environ["HUB_KEY"]} | ({"Last-Event-ID": last} if last else {}))
            with urllib.request.urlopen(request, timeout=40) as stream:  # A PING comes every 15 seconds.
                frame = {}
                for line in stream:
                    name, _, value = line.decode().rstrip("\n").partition(": ")
                    if name: frame[name] = value
                    elif "data" in frame: event(json.loads(frame["data"]))
                    if not name: last, frame = frame.get("id", last), {}  # Kept after it was handled.
        except (OSError, RuntimeError) as error: print("!!", error, flush=True)
        time.sleep(1)

def event(event):
    if event["type"] != "PING": print("<-", json.dumps(event), flush=True)
    if event["type"] == "EXECUTE_COMMAND":
        call("POST", "/api/plugin/servers/command-result", {"requestId": event["requestId"], "success": True, "output": "you said " + event["command"], "error": None})

threading.Thread(target=listen, daemon=True).start()  # Before the first player: no change is missed.
threading.Thread(target=beat, args=[register()["heartbeatIntervalMs"] / 1000], daemon=True).start()
for what, uuid, *rest in (line.rstrip("\n").split(" ", 3) for line in sys.stdin):
    with WORK:
        if what == "join":
            PLAYERS[uuid] = rest[0]
            call("POST", "/api/plugin/servers/players", {"serverId": SERVER, "playerUuid": uuid, "playerName": rest[0]})
        elif what == "leave" and PLAYERS.pop(uuid, None):
            call("DELETE", f"/api/plugin/servers/players/{uuid}?serverId={SERVER}")
        elif what == "say":
            call("POST", "/api/plugin/chat", {"serverId": SERVER, "playerUuid": uuid, "playerName": rest[0], "message": rest[1]})
call("POST", f"/api/plugin/servers/unregister?serverId={SERVER}")
