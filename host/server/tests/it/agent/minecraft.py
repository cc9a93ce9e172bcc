"""A Minecraft server as its management protocol shows it (schema 3.1.0): the same settings, methods, notifications and refusals.

Lines on its console are the players' doings and the test's. Its state is in state.json.
"""

import base64
import hashlib
import json
import os
import re
import socket
import sys
import threading

LOCK = threading.RLock()
SETTINGS = {}
STATE = {"players": {}, "bans": [], "ip_bans": [], "allowlist": [{"id": "61699b2e-d327-4a01-9f1e-0ea8c3f06bc6", "name": "Own"}],
         "use_allowlist": False, "enforce_allowlist": False, "messages": [], "kicks": [], "saves": 0, "connections": 0, "refused": 0}
CONNECTIONS = []
MODE = {"wraps": False, "drops": False, "started": True}


def read_settings():
    with open("server.properties", encoding="latin-1") as file:
        for line in file:
            if not line.startswith("#"):
                key, _, value = line.rstrip("\r\n").partition("=")
                SETTINGS[key] = value


def write_state():
    with open("state.json.new", "w", encoding="utf-8") as file:
        json.dump(STATE, file)
    os.replace("state.json.new", "state.json")


class Failure(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def same(one, other):
    return (one.get("id") or "-") == (other.get("id") or "") or (one.get("name") or "-").lower() == (other.get("name") or "").lower()


def players():
    return [{"id": player, "name": name} for name, player in STATE["players"].items()]


def leave(name):
    player = STATE["players"].pop(name)
    notify("players/left", {"id": player, "name": name})


def kick(kicked):
    gone = []
    for each in kicked:
        for player in players():
            if same(player, each["player"]):
                STATE["kicks"].append([player["name"], each["message"]["literal"]])
                leave(player["name"])
                gone.append(player)
    return gone


def add_bans(added):
    for ban in added:
        STATE["bans"] = [each for each in STATE["bans"] if not same(each["player"], ban["player"])] + [ban]
        notify("bans/added", ban)
    return STATE["bans"]


def remove_bans(removed):
    STATE["bans"] = [ban for ban in STATE["bans"] if not any(same(ban["player"], player) for player in removed)]
    for player in removed:
        notify("bans/removed", player)
    return STATE["bans"]


def add_ip_bans(added):
    gone = {ban["ip"] for ban in added}
    STATE["ip_bans"] = [ban for ban in STATE["ip_bans"] if ban["ip"] not in gone] + added
    for ban in added:
        notify("ip_bans/added", ban)
    return STATE["ip_bans"]


def remove_ip_bans(removed):
    STATE["ip_bans"] = [ban for ban in STATE["ip_bans"] if ban["ip"] not in removed]
    for address in removed:
        notify("ip_bans/removed", address)
    return STATE["ip_bans"]


def set_allowlist(listed):
    if any(player.get("name") == "unknown" for player in listed):
        raise Failure(-32602, "no such player")
    STATE["allowlist"] = listed
    return listed


def setting(name):
    def change(value):
        STATE[name] = value
        return value
    return {f"serversettings/{name}": lambda: STATE[name], f"serversettings/{name}/set": change}


def send_message(message):
    STATE["messages"].append([message["message"]["literal"], [player["id"] for player in message.get("receivingPlayers", [])]])
    return True


def save(flush):
    STATE["saves"] += 1 if flush else 0
    notify("server/saving")
    notify("server/saved")
    return True


def stop():
    threading.Thread(target=end, args=("management",)).start()
    return True


def end(why):
    with LOCK:
        STATE["stopped"] = why
        notify("server/stopping")
        write_state()
        print("stopped by", why, flush=True)
        os._exit(0)


METHODS = {
    "server/status": lambda: {"players": players(), "started": MODE["started"], "version": {"name": "26.1", "protocol": 775}},
    "players": players, "players/kick": kick,
    "bans": lambda: STATE["bans"], "bans/add": add_bans, "bans/remove": remove_bans,
    "ip_bans": lambda: STATE["ip_bans"], "ip_bans/add": add_ip_bans, "ip_bans/remove": remove_ip_bans,
    "allowlist": lambda: STATE["allowlist"], "allowlist/set": set_allowlist,
    "serversettings/max_players": lambda: 20,
    **setting("use_allowlist"), **setting("enforce_allowlist"),
    "server/save": save, "server/stop": stop, "server/system_message": send_message,
}


def discover():
    return {"openrpc": "1.3.2", "info": {"title": "Minecraft Server JSON-RPC", "version": "3.1.0"},
            "methods": [{"name": f"minecraft:{name}", "params": []} for name in METHODS] + [{"name": "rpc.discover"}],
            "components": {"schemas": {}, "padding": "x" * 200_000}}


def notify(name, *parameters):
    message = {"jsonrpc": "2.0", "method": f"minecraft:notification/{name}"}
    if parameters:
        message["params"] = list(parameters)
    for connection in list(CONNECTIONS):
        send(connection, message)


def send(connection, message, kind=1):
    content = message if isinstance(message, bytes) else json.dumps(message).encode()
    # In two frames, with a ping between them.
    half = len(content) // 2
    frames = [(kind, content[:half]), (0x89, b"there?"), (0x80, content[half:])] if kind == 1 else [(0x80 | kind, content)]
    data = b""
    for first, part in frames:
        size = len(part)
        if size < 126:
            data += bytes([first, size]) + part
        elif size < 65_536:
            data += bytes([first, 126]) + size.to_bytes(2, "big") + part
        else:
            data += bytes([first, 127]) + size.to_bytes(8, "big") + part
    try:
        connection.sendall(data)
    except OSError:
        pass


def answer(request):
    try:
        if request["method"] == "rpc.discover":
            return {"result": discover()}
        method = METHODS.get(request["method"].removeprefix("minecraft:"))
        if method is None:
            raise Failure(-32601, "Method not found")
        parameters = request.get("params", [])
        return {"result": method(**parameters) if isinstance(parameters, dict) else method(*parameters)}
    except Failure as failure:
        error = {"code": failure.code, "message": str(failure)}
        return {"result": {"error": error}} if MODE["wraps"] else {"error": error}


def serve(connection):
    file = connection.makefile("rb")
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += file.readline()
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head.decode().split("\r\n"))}
    allowed = SETTINGS.get("management-server-allowed-origins", "").split(",")
    is_known = headers.get("authorization") == f"Bearer {SETTINGS['management-server-secret']}" and headers.get("origin") in allowed
    if not is_known:
        with LOCK:
            STATE["refused"] += 1
            write_state()
        connection.sendall(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")
        return connection.close()
    accept = hashlib.sha1((headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
    connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
                       + base64.b64encode(accept) + b"\r\n\r\n")
    with LOCK:
        CONNECTIONS.append(connection)
        STATE["connections"] += 1
        write_state()
    try:
        while True:
            first, second = file.read(2)
            size = second & 0x7F
            assert second & 0x80, "a client's frames are masked"
            if size >= 126:
                size = int.from_bytes(file.read(2 if size == 126 else 8), "big")
            mask, content = file.read(4), file.read(size)
            content = bytes(byte ^ mask[at & 3] for at, byte in enumerate(content))
            if first & 0x0F == 10:
                assert content == b"there?"
            if first & 0x0F != 1:
                continue
            with LOCK:
                if MODE["drops"]:
                    # It ends while a call waits for its answer.
                    MODE["drops"] = False
                    break
                request = json.loads(content)
                send(connection, {"jsonrpc": "2.0", "id": request["id"], **answer(request)})
                write_state()
    except (OSError, ValueError):
        pass
    finally:
        with LOCK:
            CONNECTIONS.remove(connection)
        connection.shutdown(socket.SHUT_RDWR)
        connection.close()


def join(name, player):
    known = {"id": player, "name": name}
    ban = next((ban for ban in STATE["bans"] if same(ban["player"], known)), None)
    if ban:
        print(f"refused {name}: banned: {ban['reason']}", flush=True)
    elif STATE["use_allowlist"] and not any(same(each, known) for each in STATE["allowlist"]):
        print(f"refused {name}: not on the allowlist", flush=True)
    else:
        STATE["players"][name] = player
        print(f"joined {name}", flush=True)
        notify("players/joined", known)


def listen(listener):
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


def obey(word, rest):
    if word == "join":
        join(*rest)
    elif word == "leave":
        leave(*rest)
    elif word == "ban":
        add_bans([{"player": {"id": rest[0]}, "reason": "own", "source": "Server"}])
    elif word == "unlisted":
        # A player whose join nobody is told of.
        STATE["players"][rest[0]] = rest[1]
    elif word == "secret":
        SETTINGS["management-server-secret"] = rest[0]
    elif word == "disconnect":
        for connection in CONNECTIONS:
            connection.shutdown(socket.SHUT_RDWR)
    elif word in MODE:
        MODE[word] = rest[0] == "true"
    elif word == "crash":
        os._exit(3)
    else:
        print("heard", word, *rest, flush=True)


def main():
    read_settings()
    if SETTINGS.get("management-server-enabled") == "true":
        if SETTINGS.get("management-server-tls-enabled", "true") != "false":
            sys.exit("TLS is on and there is no keystore")
        if not re.fullmatch("[A-Za-z0-9]{40}", SETTINGS["management-server-secret"]):
            sys.exit("the secret must have 40 characters")
        listener = socket.create_server((SETTINGS["management-server-host"], int(SETTINGS["management-server-port"])))
        threading.Thread(target=listen, args=(listener,), daemon=True).start()
    write_state()
    print("up", os.getpid(), flush=True)
    for line in sys.stdin:
        word, *rest = line.split()
        if word == "stop":
            end("console")
        with LOCK:
            obey(word, rest)
            write_state()


main()
