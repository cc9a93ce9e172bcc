# --- The command line --------------------------------------------------------------------------


def key_value(text):
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def management_address(text):
    """Host and port of a management server, which must be on this machine: whoever knows its secret may do everything."""
    parts = urllib.parse.urlsplit(text)
    try:
        port = parts.port
    except ValueError:
        port = None
    if parts.scheme != "ws" or not port or not is_loopback(parts.hostname or "") or parts.path not in ("", "/"):
        raise argparse.ArgumentTypeError(f"{text!r} is not ws://127.0.0.1:PORT")
    return parts.hostname, port


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="hub_agent.py",
        usage="hub_agent.py [options] -- COMMAND [ARGUMENT ...]",
        description="Runs one game server for a Network Hub: start, stop, restart, kill, console, logs and plugins "
        "by the hub's routes. Give the server's command line after --; with --container, the container's command.",
        epilog="The API key (scope `agent`) comes from HUB_KEY or from the file named by HUB_KEY_FILE, never from the "
        "command line, where others could read it. The server does not see it. Options with a HUB_ name can also "
        "be set by that environment variable.")
    env = os.environ.get
    parser.add_argument("--put", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--version", action="store_true", help="print this file's SHA-256 and exit")
    parser.add_argument("--hub", metavar="URL", default=env("HUB_URL"), help="address of the hub (HUB_URL)")
    parser.add_argument("--server-id", metavar="ID", default=env("HUB_SERVER_ID"),
                        help="id of this agent's server (HUB_SERVER_ID)")
    parser.add_argument("--server-type", metavar="TYPE", default=env("HUB_SERVER_TYPE"),
                        help="type of the server, for its bundle (HUB_SERVER_TYPE)")
    parser.add_argument("--allow-plain-http", action="store_true", default=bool(env("HUB_ALLOW_PLAIN_HTTP")),
                        help="allow calls to a hub on another machine without TLS (HUB_ALLOW_PLAIN_HTTP=1)")
    parser.add_argument("--user", metavar="NAME", default=env("HUB_SERVER_USER"),
                        help="run the server as this user, who cannot read the agent's key; the agent must be root "
                        "(HUB_SERVER_USER; default: the agent's own user)")
    parser.add_argument("--node-id", metavar="ID", default=env("HUB_NODE_ID") or socket.gethostname(),
                        help="name of this machine (HUB_NODE_ID; default: its host name)")
    parser.add_argument("--workdir", metavar="DIR", default=env("HUB_WORKDIR") or ".",
                        help="working directory of the server (HUB_WORKDIR; default: the current one)")
    parser.add_argument("--env", metavar="NAME=VALUE", type=key_value, action="append", default=[],
                        help="environment variable of the server; repeatable")
    parser.add_argument("--no-start", action="store_true", help="wait for START instead of starting the server at once")
    parser.add_argument("--restart", choices=("never", "on-failure", "always"), default=env("HUB_RESTART") or "never",
                        help="when to restart a server that exits by "
                        "itself, after 5 s and then with growing delays (HUB_RESTART; default: never)")
    parser.add_argument("--stop-command", metavar="LINE", default=env("HUB_STOP_COMMAND"),
                        help="console command that stops the server, such as `stop` "
                        "(HUB_STOP_COMMAND; default: SIGTERM)")
    parser.add_argument("--stop-timeout", metavar="SECONDS", type=float, default=120.0,
                        help="time to stop before the server is killed; 0: no limit (default: 120)")
    parser.add_argument("--management", metavar="URL", type=management_address, default=env("HUB_MANAGEMENT"),
                        help="ws://127.0.0.1:PORT for a Minecraft server 1.21.9 or newer without a plugin: the agent sets up its "
                        "management server there and connects the game to the hub; the key needs the scope `plugin` (HUB_MANAGEMENT)")
    parser.add_argument("--game-host", metavar="HOST", default=env("HUB_GAME_HOST"),
                        help="with --management: address for players (HUB_GAME_HOST; default: as the hub sees this machine)")
    parser.add_argument("--memory-limit", metavar="SIZE", type=parse_size, default=0,
                        help="memory of the server and its children at which it is killed, such as 4G")
    parser.add_argument("--plugins-dir", metavar="DIR", default=env("HUB_PLUGINS_DIR"),
                        help="folder for plugins (HUB_PLUGINS_DIR; default: plugins in the working directory)")
    parser.add_argument("--bundle-dir", metavar="DIR", default=env("HUB_BUNDLE_DIR"),
                        help="folder for the server type's bundle, unpacked before the first start (HUB_BUNDLE_DIR)")
    parser.add_argument("--container", metavar="IMAGE", help="image of a container to run the server in")
    parser.add_argument("--container-name", metavar="NAME", help="name of the container (default: hub-ID)")
    parser.add_argument("--container-arg", metavar="ARGUMENT", action="append", default=[],
                        help="argument for the engine's `run`, such as --container-arg=--publish=25565:25565; "
                        "repeatable")
    parser.add_argument("--engine", metavar="PROGRAM", help="docker or podman (default: the installed one)")
    parser.add_argument("--update-interval", metavar="SECONDS", type=float, default=300.0,
                        help="interval of the checks for a newer agent; 0: never (default: 300)")
    parser.add_argument("command", metavar="COMMAND", nargs="*", help="command line of the server")
    options = parser.parse_args(arguments)
    if options.version or options.put:
        return options
    if options.user:
        if options.container:
            parser.error("--user is for servers without a container; give --container-arg=--user=NAME")
        try:
            options.user = pwd.getpwnam(options.user)
        except KeyError:
            parser.error(f"there is no user {options.user}")
        options.workdir = os.path.abspath(options.workdir)
    if options.management and options.container:
        parser.error("--management is for servers without a container")
    for value, option in ((options.hub, "--hub"), (options.server_id, "--server-id")):
        if not value:
            parser.error(f"{option} is required")
    if not options.command and not options.container:
        parser.error("the server's command line is required, after --")
    options.env = dict(options.env)
    options.plugins_dir = options.plugins_dir or os.path.join(options.workdir, "plugins")
    if options.container:
        options.engine = options.engine or shutil.which("docker") or shutil.which("podman")
        if not options.engine:
            parser.error("neither docker nor podman is installed")
        options.container_name = options.container_name or "hub-" + re.sub(r"[^A-Za-z0-9_.-]", "-", options.server_id)
    return options


def read_key(options):
    key = os.environ.pop("HUB_KEY", None)
    file = os.environ.get("HUB_KEY_FILE")
    if not key and file:
        key = read_text(file)
        try:
            if os.stat(file).st_mode & 0o077:
                log(f"other users can read {file}, which holds the key: chmod 600 {file}")
        except OSError:
            pass
        if not options.user and not options.container:
            log(f"the server runs as the same user and can read {file}: give it a user of its own with --user")
    if not key or not key.strip():
        raise SystemExit("hub-agent: no API key: set HUB_KEY, or HUB_KEY_FILE to a file that holds it")
    return key.strip()


def hide():
    """Keeps processes of the same user from reading this one's memory and environment, where the key is."""
    set_dumpable = 4
    if LIBC.prctl(set_dumpable, 0, 0, 0, 0) != 0:
        log(f"the server may be able to read the key: {os.strerror(ctypes.get_errno())}")


def clean_environment():
    """The agent's environment for its children."""
    return {name: value for name, value in os.environ.items() if name not in SECRET}


def as_user(user):
    """Options to start a process as this user; as the agent's own without one."""
    if not user:
        return {}
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": os.getgrouplist(user.pw_name, user.pw_gid),
            "preexec_fn": drop_capabilities}


def drop_capabilities():
    """For an agent that is not root, but may start processes as other users: its children must not be able to."""
    ambient, clear_all = 47, 4
    LIBC.prctl(ambient, clear_all, 0, 0, 0)


def check_transport(options, hub, goes_on):
    """The key and the commands must not cross a network on which others can read and change them."""
    if not hub.in_the_clear or options.allow_plain_http:
        return
    text = f"{options.hub} is plain http: anyone on the path can read the key and control the server; use https, or " \
           "--allow-plain-http in a network that you trust"
    if not goes_on:
        raise SystemExit(f"hub-agent: {text}")
    # A new version does not stop a running server.
    log(f"{text}; the next start is refused")


def main():
    options = parse(sys.argv[1:])
    if options.version:
        with open(__file__, "rb") as file:
            print(hashlib.sha256(file.read()).hexdigest())
        return
    if options.put:
        kind, folder, name = options.put
        with os.fdopen(os.dup(0), "rb") as file:
            told = PUT[kind](folder, name, file)
            if told is not None:
                print(json.dumps(told))
            return
    hide()
    handed = taken_state()
    key = (handed or {}).get("key") or read_key(options)
    agent = Agent(options, key)
    check_transport(options, agent.hub, handed is not None)
    agent.run(handed)


if __name__ == "__main__":
    main()
