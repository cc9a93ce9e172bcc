# --- Plugins -----------------------------------------------------------------------------------


def plugin_file(name, url):
    """File name of a plugin: its own name, without any path."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 ._+-]{0,120}", name) or ".." in name:
        raise AgentError(f"{name!r} is not a valid name for a plugin")
    if os.path.splitext(name)[1].lower() in (".jar", ".zip"):
        return name
    ending = os.path.splitext(urllib.parse.urlsplit(url).path)[1].lower()
    return name + (ending if ending in (".jar", ".zip") else ".jar")


def install(options, command):
    """Downloads a plugin, checks it, and moves it to its place atomically."""
    url, sha256 = command.get("url"), command.get("sha256")
    if not isinstance(url, str) or urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise AgentError("the plugin's URL is neither http nor https")
    if not isinstance(sha256, str) or not re.fullmatch(r"[0-9a-fA-F]{64}", sha256):
        raise AgentError("the plugin's SHA-256 is invalid")
    name = plugin_file(command.get("name"), url)
    try:
        with tempfile.TemporaryFile() as file:
            digest = hashlib.sha256()
            # Without the key: the link is signed, and may lead to another host.
            with urllib.request.urlopen(url, timeout=60) as answer:
                for block in iter(lambda: answer.read(1 << 16), b""):
                    digest.update(block)
                    file.write(block)
            if digest.hexdigest() != sha256.lower():
                raise AgentError("the downloaded file has an unexpected SHA-256")
            put(options, "plugin", options.plugins_dir, name, file)
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise AgentError(f"the plugin could not be installed: {error}") from error
    log(f"installed {name} {command.get('version') or ''}")
    return {"file": name}


def put(options, kind, folder, name, file):
    """Puts a download into the server's folder, as the server's user: a link there must not lead the agent elsewhere."""
    file.flush()
    file.seek(0)
    if not options.user:
        return PUT[kind](folder, name, file)
    done = subprocess.run([sys.executable, "-I", os.path.realpath(__file__), "--put", kind, folder, name], stdin=file,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd="/", env=clean_environment(),
                          check=False, timeout=600, **as_user(options.user))
    if done.returncode != 0:
        raise AgentError(done.stderr.decode("utf-8", "replace").strip()[-500:] or "the files could not be put in place")


def put_plugin(folder, name, file):
    os.makedirs(folder, exist_ok=True)
    handle, partial = tempfile.mkstemp(prefix=".hub-agent-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as copy:
            shutil.copyfileobj(file, copy)
            copy.flush()
            os.fsync(copy.fileno())
        os.chmod(partial, 0o644)
        os.replace(partial, os.path.join(folder, name))
    except BaseException:
        os.unlink(partial)
        raise


def put_bundle(folder, name, file):
    unpack(file, folder, name)


PUT = {"plugin": put_plugin, "bundle": put_bundle}


def unpack(archive, folder, name):
    """Unpacks a zip or tar into the folder, or copies any other file."""
    os.makedirs(folder, exist_ok=True)
    root = os.path.realpath(folder)

    def inside(path):
        target = os.path.realpath(os.path.join(root, path))
        if os.path.commonpath([root, target]) != root:
            raise AgentError(f"the bundle has a file outside of its folder: {path!r}")
        return target

    archive.seek(0)
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as bundle:
            for entry in bundle.infolist():
                place(inside(entry.filename), entry.is_dir(), lambda entry=entry: bundle.open(entry))
        return
    archive.seek(0)
    try:
        with tarfile.open(fileobj=archive) as bundle:
            for entry in bundle:
                # Links could lead anywhere, and special files don't belong here.
                if entry.isfile() or entry.isdir():
                    place(inside(entry.name), entry.isdir(), lambda entry=entry: bundle.extractfile(entry))
    except tarfile.ReadError:
        archive.seek(0)
        place(inside(name), False, lambda: io.BufferedReader(io.FileIO(os.dup(archive.fileno()))))


def place(target, is_folder, opened):
    if is_folder:
        os.makedirs(target, exist_ok=True)
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    partial = f"{target}.hub-agent"
    with opened() as source, open(partial, "wb") as file:
        shutil.copyfileobj(source, file)
    os.replace(partial, target)


