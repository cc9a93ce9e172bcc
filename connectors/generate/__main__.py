"""Generates the models of connectors from the OpenAPI document of the hub that HUB_BINARY names.

    python3 connectors/generate [--check] [java | python | rust | typescript …]

With --check it writes nothing and fails where a checked-in file differs.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

import document
import java
import python
import rust
import typescript

CONNECTORS = pathlib.Path(__file__).resolve().parent.parent
# Each with the files that it generates.
LANGUAGES = {
    "java": (java, "java/src/main/java/networkhub/model/*.java"),
    "python": (python, "python/src/networkhub/models.py"),
    "rust": (rust, "rust/src/model/*.rs"),
    "typescript": (typescript, "typescript/src/generated/*.ts"),
}
# Built by Cargo, without a hub at hand.
CHECKED_IN = ("rust",)


def files(language: str, openapi: dict[str, Any]) -> dict[pathlib.Path, str]:
    """The text of each file by its path."""
    module, pattern = LANGUAGES[language]
    # The other connectors have errors of their own, whose codes are texts.
    generated = module.generate(document.read(openapi, with_errors=language == "typescript"))
    if language == "rust":
        generated = {name: formatted(text) for name, text in generated.items()}
    return {(CONNECTORS / pattern).parent / name: text for name, text in generated.items()}


def formatted(text: str) -> str:
    configuration = ["--edition", "2024", "--config-path", str(CONNECTORS.parent)]
    return subprocess.run(["rustfmt", *configuration], input=text, text=True, capture_output=True, check=True).stdout


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("languages", nargs="*", choices=[*LANGUAGES, []])
    arguments = parser.parse_args()
    printed = subprocess.run([os.environ["HUB_BINARY"], "openapi"], stdout=subprocess.PIPE, check=True).stdout
    openapi = json.loads(printed)
    for language in arguments.languages or (CHECKED_IN if arguments.check else LANGUAGES):
        generated = files(language, openapi)
        present = {path: path.read_text() for path in CONNECTORS.glob(LANGUAGES[language][1])}
        if not arguments.check:
            write(generated, obsolete=present.keys() - generated.keys())
        elif present != generated:
            different = sorted(path.name for path, _ in present.items() ^ generated.items())
            sys.exit(f"{language}: {', '.join(different)} differ from the document: run scripts/connectors --generate")


def write(files: dict[pathlib.Path, str], obsolete: Iterable[pathlib.Path]) -> None:
    for path in obsolete:
        path.unlink()
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


main()
