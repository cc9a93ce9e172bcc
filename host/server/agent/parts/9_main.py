# --- The command line --------------------------------------------------------------------------


def key_value(text):
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="hub_agent.py",
        usage="hub_agent.py [options] -- COMMAND [ARGUMENT ...]",
        description="Runs one game server for a Network Hub: start, stop, restart, kill, console, logs and plugins "
        "by the hub's routes. Give the server's command line behind --; with --container, what the container runs.",
        epilog="The API key (scope `agent`) comes from HUB_API_KEY or from the file HUB_API_KEY_FILE names, never from the "
        "command line, where others could read it. The server does not see it. Every option that shows a HUB_ name can "
        "be given by that environment variable.")
    env = os.environ.get
    parser.add_argument("--version", action="store_true", help="print this file's SHA-256 and end")
    parser.add_argument("--hub", metavar="URL", default=env("HUB_URL"), help="the hub's address (HUB_URL)")
    parser.add_argument("--server-id", metavar="ID", default=env("HUB_SERVER_ID"),
                        help="the server this agent runs (HUB_SERVER_ID)")
    parser.add_argument("--server-type", metavar="TYPE", default=env("HUB_SERVER_TYPE"),
                        help="its type, for the bundle (HUB_SERVER_TYPE)")
    parser.add_argument("--node-id", metavar="ID", default=env("HUB_NODE_ID") or socket.gethostname(),
                        help="this machine (HUB_NODE_ID; default: its host name)")
    parser.add_argument("--workdir", metavar="DIR", default=env("HUB_WORKDIR") or ".",
                        help="where the server runs (HUB_WORKDIR; default: here)")
    parser.add_argument("--env", metavar="NAME=VALUE", type=key_value, action="append", default=[],
                        help="an environment variable of the server; may be given more than once")
    parser.add_argument("--no-start", action="store_true", help="wait for START instead of starting the server at once")
    parser.add_argument("--restart", choices=("never", "on-failure", "always"), default=env("HUB_RESTART") or "never",
                        help="whether to start the server again, after 5 s and then later and later, when it goes down by "
                        "itself (HUB_RESTART; default: never)")
    parser.add_argument("--stop-command", metavar="LINE", default=env("HUB_STOP_COMMAND"),
                        help="what stops the server when written to its console, such as `stop` "
                        "(HUB_STOP_COMMAND; default: SIGTERM)")
    parser.add_argument("--stop-timeout", metavar="SECONDS", type=float, default=120.0,
                        help="kill a server that was told to stop and has not after this time; 0: never (default: 120)")
    parser.add_argument("--memory-limit", metavar="SIZE", type=parse_size, default=0,
                        help="kill the server when it and what it started hold more memory than this, such as 4G")
    parser.add_argument("--plugins-dir", metavar="DIR", default=env("HUB_PLUGINS_DIR"),
                        help="where INSTALL puts plugins (HUB_PLUGINS_DIR; default: plugins in the working directory)")
    parser.add_argument("--bundle-dir", metavar="DIR", default=env("HUB_BUNDLE_DIR"),
                        help="unpack the server type's bundle here before the first start (HUB_BUNDLE_DIR)")
    parser.add_argument("--container", metavar="IMAGE", help="run the server in a container of this image")
    parser.add_argument("--container-name", metavar="NAME", help="its name (default: hub- and the server's id)")
    parser.add_argument("--container-arg", metavar="ARGUMENT", action="append", default=[],
                        help="an argument for the engine's `run`, as --container-arg=--publish=25565:25565; "
                        "may be given more than once")
    parser.add_argument("--engine", metavar="PROGRAM", help="docker or podman (default: whichever there is)")
    parser.add_argument("--update-interval", metavar="SECONDS", type=float, default=300.0,
                        help="how often to look for a newer agent; 0: never (default: 300)")
    parser.add_argument("command", metavar="COMMAND", nargs="*", help="the server's command line")
    options = parser.parse_args(arguments)
    if options.version:
        return options
    for value, option in ((options.hub, "--hub"), (options.server_id, "--server-id")):
        if not value:
            parser.error(f"{option} is needed")
    if not options.command and not options.container:
        parser.error("the server's command line is needed, behind --")
    options.env = dict(options.env)
    options.plugins_dir = options.plugins_dir or os.path.join(options.workdir, "plugins")
    if options.container:
        options.engine = options.engine or shutil.which("docker") or shutil.which("podman")
        if not options.engine:
            parser.error("neither docker nor podman is here")
        options.container_name = options.container_name or "hub-" + re.sub(r"[^A-Za-z0-9_.-]", "-", options.server_id)
    return options


def read_key():
    key, file = os.environ.get("HUB_API_KEY"), os.environ.get("HUB_API_KEY_FILE")
    if not key and file:
        key = read_text(file)
    if not key or not key.strip():
        raise SystemExit("hub-agent: no API key: set HUB_API_KEY, or HUB_API_KEY_FILE to a file that holds it")
    return key.strip()


def main():
    options = parse(sys.argv[1:])
    if options.version:
        with open(__file__, "rb") as file:
            print(hashlib.sha256(file.read()).hexdigest())
        return
    Agent(options, read_key()).run()


if __name__ == "__main__":
    main()
