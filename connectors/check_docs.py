#!/usr/bin/env python3
"""Checks the code blocks of the connectors' pages: docs/connectors/*.md and connectors/*/README.md.

A block in a language that has a connector must be found, line by line, in a source file of that connector that is compiled and run by
its tests. Blocks in `sh` are run, from the root, in order, a page's in one shell, against the hub at HUB_URL with HUB_KEY
(with --no-run they are not).
"""

import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
LANGUAGES = {"java": ("java", ".java"), "typescript": ("typescript", ".ts"), "python": ("python", ".py"), "rust": ("rust", ".rs")}
GENERATED = {"build", "target", "node_modules", "dist"}


def blocks(page):
    """The fenced blocks of a page: line, language, text."""
    text = page.read_text()
    for match in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, match.start()) + 1, match[1], match[2]


def lines(text):
    """The lines without indentation, so that a block may be quoted from the middle of a file."""
    return [line.rstrip() for line in textwrap.dedent(text).strip("\n").split("\n")]


def contains(source, block):
    """Whether the block's lines follow each other in the source, indented by the same amount."""
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


def check(page, run):
    failures, commands = [], []
    for line, language, text in blocks(page):
        where = f"{page.relative_to(ROOT)}:{line}"
        if language == "sh":
            commands.append(text)
        elif language in LANGUAGES and not any(contains(source, lines(text)) for source in sources(language)):
            failures.append(f"{where}: the block is in no source of connectors/{LANGUAGES[language][0]}")
    if run and commands and page.is_relative_to(ROOT / "connectors"):
        # What the page starts in the background ends with it, also where a command fails.
        script = "set -euo pipefail\nset -m\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n" + "".join(commands)
        done = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            failures.append(f"{page.relative_to(ROOT)}: its commands fail:\n{done.stdout}{done.stderr}")
    return failures


def main():
    pages = sorted([*ROOT.glob("docs/connectors/*.md"), *ROOT.glob("connectors/*/README.md")])
    failures = [failure for page in pages for failure in check(page, "--no-run" not in sys.argv)]
    print("\n".join(failures) or f"{len(pages)} pages: all blocks are in sources that are tested")
    sys.exit(bool(failures))


main()
