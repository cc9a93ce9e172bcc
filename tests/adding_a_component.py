"""Follows docs/develop/adding-a-component.md in a copy of the checkout, and tests the hub that results.

python3 tests/adding_a_component.py COPY, where COPY is an empty folder. CARGO_TARGET_DIR says where the copy is built. Fails if
the page's blocks touch more than a folder, the schemas and a line in each of two files, or if the component is not served,
exported, erased, limited and documented like any other.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent / "load"))
from hub import ROOT, Hub

PAGE = "docs/develop/adding-a-component.md"
FOLDER = "host/game/src/notes/"
SCHEMAS = {f"migrations/{database}/0001_schema.sql" for database in ("sqlite", "postgres")}
LINES = {"host/game/src/lib.rs", "host/server/src/components.rs"}
BLOCK = re.compile(r"^(At the end of |In )?`([\w/.]+)`(?:, after `([^`]+)`)?:\n\n```\w+\n(.*?)```$", re.M | re.S)
PLAYER, OTHER = "069a79f4-44e9-4726-a5be-fca90e38aaf5", "11111111-0000-4000-8000-000000000000"


def copy_checkout(copy):
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, files.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)


def follow_page(copy):
    """Applies the blocks of the page; returns the names of new files and the number of lines added to others."""
    created, added = set(), {}
    for where, name, anchor, block in BLOCK.findall((ROOT / PAGE).read_text()):
        path = copy / name
        if not where:
            assert not path.exists(), f"{name} exists"
            path.parent.mkdir(exist_ok=True)
            path.write_text(block)
            created.add(name)
            continue
        lines = path.read_text().splitlines(keepends=True)
        at = len(lines)
        if anchor:
            [at] = [number for number, line in enumerate(lines, 1) if line.strip() == anchor]
        path.write_text("".join([*lines[:at], block, *lines[at:]]))
        added[name] = len(block.splitlines())
    return created, added


def check_component(hub, data):
    run = lambda *command: subprocess.run([hub.program, *command], check=True, capture_output=True).stdout
    key = hub.network("example")
    path = f"/api/plugin/notes/{PLAYER}"
    assert hub.call(key, "GET", path)[0] == 404
    hub.expect(key, "PUT", path, {"note": "kind"})
    hub.expect(key, "PUT", f"/api/plugin/notes/{OTHER}", {"note": f"a friend of {PLAYER}"})
    assert json.loads(hub.expect(key, "GET", path)) == {"note": "kind"}
    document = json.loads(hub.expect(None, "GET", "/api/openapi.json"))
    assert "Notes" in [tag["name"] for tag in document["tags"]], document["tags"]
    assert "unknown_note" in document["components"]["schemas"]["ErrorCode"]["enum"]
    limits = json.loads(run("limits", "--json"))
    assert 1_000_000 in [limit["bound"] for limit in limits if limit["name"] == "notes"], limits
    export = json.loads(hub.expect(key, "GET", f"/api/manage/players/{PLAYER}/export"))
    assert [row["note"] for row in export["tables"]["playerNotes"]] == ["kind"], export
    hub.expect(key, "DELETE", f"/api/manage/players/{PLAYER}")
    while json.loads(hub.expect(key, "GET", "/api/manage/forgotten-players"))["items"][0]["finishedAt"] is None:
        time.sleep(0.1)
    hub.stop()
    archive = data / "network.tar"
    run("admin", "network", "export", "example", "--out", archive, "--data", hub.data)
    listed = subprocess.run(["tar", "-xOf", archive, "tables/player_notes/000001.jsonl"], check=True, capture_output=True)
    [[player, note]] = map(json.loads, listed.stdout.splitlines())
    assert player == OTHER and PLAYER not in note, (player, note)


def main():
    copy = pathlib.Path(sys.argv[1]).resolve()
    copy_checkout(copy)
    created, added = follow_page(copy)
    assert created and all(name.startswith(FOLDER) for name in created), created
    assert set(added) == SCHEMAS | LINES, added
    assert all(added[name] == 1 for name in LINES), added
    subprocess.run(["cargo", "fmt", "--all", "--check"], cwd=copy, check=True)
    subprocess.run(["cargo", "build", "--quiet", "--bin", "hub"], cwd=copy, check=True)
    program = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", copy / "target")) / "debug/hub"
    subprocess.run([program, "reference", copy / "docs"], check=True)
    for page, word in {"reference/limits": "`notes`", "reference/errors": "`unknown_note`"}.items():
        assert word in (copy / f"docs/{page}.md").read_text(), page
    assert "`player_notes`" in (copy / "docs/develop/architecture.md").read_text()
    with tempfile.TemporaryDirectory() as data:
        hub = Hub(program, f"{data}/hub")
        hub.start()
        try:
            check_component(hub, pathlib.Path(data))
        finally:
            hub.stop()
    print("the page works")


if __name__ == "__main__":
    main()
