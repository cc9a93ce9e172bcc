# --- Settings of a Minecraft server ------------------------------------------------------------


def merged_properties(text, wanted):
    """server.properties with these keys set; all other lines stay as they are, byte for byte."""
    # Bytes are split at line ends alone; texts at characters, too, that may be a part of another one.
    lines = [line.decode("latin-1") for line in text.splitlines(keepends=True)]
    kept, missing = [], dict(wanted)
    ending = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    at = 0
    while at < len(lines):
        end = at + 1
        while end < len(lines) and continues(lines, at, end):
            end += 1
        key = property_of(lines[at])[0]
        if key in wanted:
            if key in missing:
                kept.append(f"{key}={missing.pop(key)}{ending}")
        else:
            kept += lines[at:end]
        at = end
    if kept and not kept[-1].endswith(("\n", "\r")):
        kept[-1] += ending
    kept += [f"{key}={value}{ending}" for key, value in missing.items()]
    return "".join(kept).encode("latin-1")


def continues(lines, begin, at):
    """True if the line is a part of the one that begins before it."""
    if lines[begin].lstrip(" \t\f")[:1] in ("#", "!", ""):
        return False
    before = lines[at - 1].rstrip("\r\n")
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def property_of(line):
    """Key and value of a line; a comment has neither."""
    line = line.strip(" \t\f\r\n")
    if line[:1] in ("#", "!", ""):
        return None, None
    found = re.match(r"((?:\\.|[^\\=: \t\f])*)[ \t\f]*[=:]?[ \t\f]*(.*)", line)
    return re.sub(r"\\(.)", r"\1", found[1]), found[2]


def put_properties(folder, name, file):
    """Sets keys of a properties file in one step; returns the port for players."""
    path = os.path.realpath(os.path.join(folder, name))
    wanted = json.loads(file.read())
    text, mode = b"", 0o600
    if os.path.exists(path):
        # Its secret is for the server and its agent.
        mode = os.stat(path).st_mode & 0o770
        with open(path, "rb") as before:
            text = before.read()
    merged = merged_properties(text, wanted)
    handle, partial = tempfile.mkstemp(prefix=".hub-agent-", dir=os.path.dirname(path))
    try:
        with os.fdopen(handle, "wb") as copy:
            copy.write(merged)
            copy.flush()
            os.fsync(copy.fileno())
        os.chmod(partial, mode)
        os.replace(partial, path)
    except BaseException:
        os.unlink(partial)
        raise
    ports = [value for key, value in (property_of(line.decode("latin-1")) for line in merged.splitlines()) if key == "server-port"]
    return {"port": int(ports[-1]) if ports and ports[-1].isdecimal() else MINECRAFT_PORT}


def set_properties(options, wanted):
    """Does so as the server's user: a link in the server's folder must not lead the agent elsewhere."""
    data = json.dumps(wanted).encode()
    try:
        if not options.user:
            return put_properties(options.workdir, PROPERTIES, io.BytesIO(data))
        done = subprocess.run(
            [sys.executable, "-I", os.path.realpath(__file__), "--put", "properties", options.workdir, PROPERTIES],
            input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd="/", env=clean_environment(), check=False,
            timeout=60, **as_user(options.user))
        if done.returncode != 0:
            raise AgentError(done.stderr.decode("utf-8", "replace").strip()[-500:] or "it could not be written")
        return json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise AgentError(f"{PROPERTIES} could not be written: {error}") from error


PUT["properties"] = put_properties


