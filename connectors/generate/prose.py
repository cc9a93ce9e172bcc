"""Names and prose of the document in the ways of the languages."""

from __future__ import annotations

import re
import textwrap


def snake_case(name: str) -> str:
    """`playerUuid` as `player_uuid`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def camel_case(name: str) -> str:
    """`player_uuid` as `playerUuid`."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def pascal_case(name: str) -> str:
    """`HEARTBEAT_ONLY` as `HeartbeatOnly`."""
    return "".join(word.capitalize() for word in name.split("_"))


def wrapped(text: str, width: int) -> list[str]:
    """The lines of a text: paragraphs are filled, lists and tables stay as they are."""
    lines: list[str] = []
    for paragraph in text.strip().split("\n\n"):
        if lines:
            lines.append("")
        if re.search(r"^(- |\* |\d+\. |\|)", paragraph, re.MULTILINE):
            lines += paragraph.split("\n")
        else:
            lines += textwrap.wrap(" ".join(paragraph.split()), width, break_long_words=False, break_on_hyphens=False)
    return lines
