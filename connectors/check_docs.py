#!/usr/bin/env python3
"""Checks the code blocks of pages; without arguments, of the connectors' pages: docs/connectors/*.md and connectors/*/README.md.

- A block in a language that has a connector must be found, line by line, in a source file of that connector that is compiled and
  run by its tests.
- Blocks in `sh` are run in order, a page's in one shell, from the root or in the folder that is named by --folder. The
  connectors' are run against the hub at HUB_URL with HUB_KEY.
- A `json` block has the shape of what the block before it printed last, or, after none, of its event's example in the hub's
  document. A field named `…` stands for any others.
- Readers build in release mode. Here the same commands use the debug build, which the tests have.
- The lines of a `text` block are among those that the block before it printed. `…` stands for anything, a number for any other.
- A table of events has all of the document's, with all of their fields.

With --no-run only the first is done.
"""

import argparse
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import textwrap
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
LANGUAGES = {"java": ("java", ".java"), "typescript": ("typescript", ".ts"), "python": ("python", ".py"), "rust": ("rust", ".rs")}
GENERATED = {"build", "target", "node_modules", "dist", ".venv"}
# Between the output of one block and that of the next.
MARK = "=== the next block ==="
# Seconds for the blocks of a page. Several build packages, on machines that build other things beside them.
PATIENCE = 1200
# Programs that a page leaves running would hold its output open.
PRELUDE = """set -euo pipefail
set -m
trap 'for job in $(jobs -p); do kill -- -$job 2>/dev/null || true; done' EXIT
"""


def name_of(page):
    return page.relative_to(ROOT) if page.is_relative_to(ROOT) else page.name


def blocks(page):
    """The fenced blocks of a page: line, language, text."""
    text = page.read_text()
    for match in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, match.start()) + 1, match[1], match[2]


def lines(text):
    """The lines without indentation, so that a block may be quoted from the middle of a file."""
    return [line.rstrip() for line in textwrap.dedent(text).strip("\n").split("\n")]


def contains(source, block):
    """Returns true if the block's lines follow each other in the source, indented by the same amount."""
    size = len(block)
    for start in range(len(source) - size + 1):
        part = source[start : start + size]
        if part[0].strip() == block[0].strip() and lines("\n".join(part)) == block:
            return True
    return False


def sources(language):
    folder, ending = LANGUAGES[language]
    for file in sorted((ROOT / "connectors" / folder).rglob("*" + ending)):
        if not GENERATED & set(file.relative_to(ROOT).parts):
            yield file.read_text().split("\n")


def check_sources(page):
    for line, language, text in blocks(page):
        if language in LANGUAGES and not any(contains(source, lines(text)) for source in sources(language)):
            yield f"{name_of(page)}:{line}: the block is in no source of connectors/{LANGUAGES[language][0]}"


def run(commands, folder):
    """Runs blocks in one shell. What each of them printed, or the problem."""
    script = PRELUDE + f"printf '\\n{MARK}\\n'\n".join(commands)
    script = script.replace(" --release", "").replace("target}/release/", "target}/debug/")
    # Ends the shell in a way that lets it end what it has started.
    done = subprocess.run(["timeout", str(PATIENCE), "bash", "-c", script], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"its commands fail:\n{done.stdout}{done.stderr}")
    return done.stdout.split(MARK)


def differences(shown, real, where=""):
    """Returns the differences of a JSON value that a page shows. Null may stand for any value."""
    if shown is None or real is None:
        return []
    kinds = [float if isinstance(value, int) and not isinstance(value, bool) else type(value) for value in (shown, real)]
    if kinds[0] != kinds[1]:
        return [f"`{where}` is a {kinds[1].__name__}"]
    if isinstance(shown, list):
        return [text for item in real[:1] for one in shown for text in differences(one, item, where + "[]")]
    if not isinstance(shown, dict):
        return []
    found = [f"there is no `{where}.{name}`" for name in shown if name not in real and name != "…"]
    if "…" not in shown:
        found += [f"`{where}.{name}` is missing" for name in real if name not in shown]
    return found + [text for name in shown if name in real for text in differences(shown[name], real[name], f"{where}.{name}")]


def check_output(page, printed):
    """Compares what the page shows with what was printed, or with the events' examples."""
    before = None
    for line, language, text in blocks(page):
        where = f"{name_of(page)}:{line}"
        if language == "sh":
            before = next(printed).strip()
        elif language == "json":
            shown = json.loads(text)
            real = json.loads(before.split("\n")[-1]) if before is not None else read_events()[shown["type"]]
            yield from (f"{where}: {text}" for text in differences(shown, real))
        elif language == "text" and before is not None:
            real = iter(before.split("\n"))
            for pattern in filter(None, text.split("\n")):
                found = re.sub(r"\d+", r"\\d+", re.escape(pattern).replace("…", ".*"))
                if not any(re.fullmatch(found, row) for row in real):
                    yield f"{where}: not printed in this place: {pattern}"
                    break
        if language != "sh":
            before = None


def check_event_table(page):
    """Rows of the form: | `CHAT` | who gets it | `field`, `field` | what to do |"""
    rows = dict(re.findall(r"^\| `([A-Z_]+)` \|[^|]*\|([^|]*)\|[^|]*\|$", page.read_text(), re.MULTILINE))
    if not rows:
        return
    components = read_document()["components"]
    events = {it["name"]: field_names(components["schemas"], it["payload"]) for it in components["messages"].values()}
    yield from (f"{name_of(page)}: `{name}` is missing" for name in events.keys() - rows.keys())
    for name, cell in rows.items():
        fields = set(re.findall(r"`(\w+)`", cell))
        if fields != events.get(name, set()) - {"type", "at"}:
            yield f"{name_of(page)}: `{name}` has {sorted(events.get(name, set()))}"


def field_names(schemas, schema):
    """The names of all fields that a schema may have."""
    if "$ref" in schema:
        schema = schemas[schema["$ref"].rsplit("/", 1)[1]]
    parts = (field_names(schemas, part) for part in schema.get("allOf", []))
    return set(schema.get("properties", {})).union(*parts)


def read_events():
    """An example of each event, by its name."""
    messages = read_document()["components"]["messages"].values()
    return {message["name"]: message["examples"][0]["payload"] for message in messages}


@functools.cache
def read_document():
    with urllib.request.urlopen(os.environ["HUB_URL"] + "/api/asyncapi.json") as answer:
        return json.load(answer)


def check(page, arguments):
    yield from check_sources(page)
    if arguments.no_run:
        return
    try:
        yield from check_event_table(page)
        printed = run([text for _, language, text in blocks(page) if language == "sh"], arguments.folder)
        yield from check_output(page, iter(printed))
    except (RuntimeError, ValueError, KeyError) as problem:
        yield f"{name_of(page)}: {problem}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--no-run", action="store_true")
    parser.add_argument("--folder", default=ROOT)
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    named = [page.resolve() for page in arguments.pages]
    pages = named or sorted([*ROOT.glob("docs/connectors/*.md"), *ROOT.glob("connectors/*/README.md")])
    failures = [failure for page in pages for failure in check(page, arguments)]
    print("\n".join(failures) or f"{len(pages)} pages: all blocks are right")
    sys.exit(bool(failures))


main()
