"""Generates the models of connectors from the OpenAPI document of the hub that HUB_BINARY names.

    python3 connectors/generate [--check] [java | python | rust …]

With --check it writes nothing and fails where a checked-in file differs.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys

import document
import java
import python
import rust

CONNECTORS = pathlib.Path(__file__).resolve().parent.parent
LANGUAGES = {
    "java": (java, "java/src/main/java/networkhub/model"),
    "python": (python, "python/src/networkhub"),
    "rust": (rust, "rust/src"),
}
# Built by Cargo, without a hub at hand.
CHECKED_IN = ("rust",)


def files(language: str, models: document.Document) -> dict[pathlib.Path, str]:
    """The text of each file by its path."""
    module, folder = LANGUAGES[language]
    generated = module.generate(models)
    if language == "rust":
        generated = {name: formatted(text) for name, text in generated.items()}
    return {CONNECTORS / folder / name: text for name, text in generated.items()}


def formatted(text: str) -> str:
    configuration = ["--edition", "2024", "--config-path", str(CONNECTORS.parent)]
    return subprocess.run(["rustfmt", *configuration], input=text, text=True, capture_output=True, check=True).stdout


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("languages", nargs="*", choices=[*LANGUAGES, []])
    arguments = parser.parse_args()
    openapi = subprocess.run([os.environ["HUB_BINARY"], "openapi"], stdout=subprocess.PIPE, check=True).stdout
    models = document.read(json.loads(openapi))
    for language in arguments.languages or (CHECKED_IN if arguments.check else LANGUAGES):
        for path, text in files(language, models).items():
            if not arguments.check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            elif not path.exists() or path.read_text() != text:
                sys.exit(f"{path.relative_to(CONNECTORS.parent)} differs from the document: run scripts/connectors --generate")


main()
