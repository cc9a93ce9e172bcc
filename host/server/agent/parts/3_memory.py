# --- Memory ------------------------------------------------------------------------------------


def parse_size(text):
    match = re.fullmatch(r"(\d+)\s*([KMGT]?)(?:I?B)?", text.strip(), re.I)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 512M or 4G")
    return int(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " ")


def read_text(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def count_in(text, name):
    match = re.search(rf"^{name} (\d+)$", text, re.M)
    return int(match[1]) if match else None


def own_cgroups():
    """The folders of this process's memory cgroup: version 2, then version 1."""
    found = []
    for line in read_text("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            found += [f"/sys/fs/cgroup{path}", f"/sys/fs/cgroup/unified{path}"]
        elif "memory" in controllers.split(","):
            found += [f"/sys/fs/cgroup/memory{path}", "/sys/fs/cgroup/memory"]
    return found


def oom_kills():
    """Number of out-of-memory kills by the kernel: in this cgroup, and on this machine."""
    kills = {"machine": count_in(read_text("/proc/vmstat"), "oom_kill")}
    for folder in own_cgroups():
        for name in ("memory.events", "memory.oom_control"):
            count = count_in(read_text(f"{folder}/{name}"), "oom_kill")
            if count is not None:
                kills[folder] = count
    return kills


def session_memory(session):
    """Resident bytes of all processes of a session: the server and its children."""
    page, total = os.sysconf("SC_PAGE_SIZE"), 0
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        # After the command's name, which may contain any character: state, parent, group, session …, resident pages.
        fields = read_text(f"/proc/{name}/stat").rpartition(")")[2].split()
        if len(fields) > 21 and int(fields[3]) == session:
            total += int(fields[21]) * page
    return total


