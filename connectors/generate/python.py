"""Models for Python: one module of dataclasses, and literals for sets of texts."""

from __future__ import annotations

import keyword
import re

from document import Document, Enum, Field, Model, Type
from prose import camel_case, snake_case, wrapped

WIDTH = 126
SIMPLE = {"text": "str", "uuid": "UUID", "integer": "int", "number": "float", "boolean": "bool", "any": "Any"}
HEAD = '''"""Requests and answers of the hub. Times are milliseconds since the Unix epoch.

Generated from the hub's OpenAPI document by connectors/generate.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID
'''


def generate(document: Document) -> dict[str, str]:
    """The text of each file by its name."""
    # Literals are values: they stand before what names them.
    parts = [literal(enum) for enum in document.enums.values()] + [dataclass(model) for model in document.models.values()]
    return {"models.py": HEAD + "".join(parts)}


def literal(enum: Enum) -> str:
    values = ", ".join(f'"{value}"' for value in enum.values)
    return "\n".join(["", f"{enum.name} = Literal[{values}]", *docstring(enum.description, "")]) + "\n"


def dataclass(model: Model) -> str:
    lines = ["", "", "@dataclass(frozen=True, slots=True, kw_only=True)", f"class {model.name}:"]
    about = docstring(model.description, "    ")
    lines += [*about, ""] if about else []
    for each in model.fields:
        lines.append(f"    {name_of(each)}: {type_of(each, model)}")
        lines += docstring(each.description, "    ")
    return "\n".join(lines) + "\n"


def name_of(each: Field) -> str:
    """The field's name, with an underscore behind a word of the language. The wire's name must follow from it."""
    name = snake_case(each.name)
    name += "_" if keyword.iskeyword(name) else ""
    if camel_case(name) != each.name:
        raise ValueError(f"{each.name} can't be told from {name}")
    return name


def type_of(each: Field, model: Model) -> str:
    name = type_name(each.type, model)
    if name == "Any":
        # Null is a document like any other.
        return "Any = None"
    return name if each.is_required else f"{name} | None = None"


def type_name(kind: Type, model: Model) -> str:
    if kind.kind == "amount":
        # Whole amounts may be sent as they are.
        return "Decimal" if model.is_received else "Decimal | int"
    if kind.item and kind.kind == "list":
        return f"list[{item_name(kind.item, model)}]"
    if kind.item and kind.key:
        return f"dict[str, {item_name(kind.item, model)}]"
    return SIMPLE.get(kind.kind, kind.name)


def item_name(kind: Type, model: Model) -> str:
    return type_name(kind, model) + (" | None" if kind.is_nullable else "")


def docstring(text: str, indent: str) -> list[str]:
    text = re.sub(r'"$', r'\\"', text.replace("\\", "\\\\").replace('"""', "'''"))
    lines = wrapped(text, WIDTH - len(indent) - 3)
    if len(lines) > 1 and lines[1]:
        # The first line is a summary.
        first, _, rest = " ".join(lines).partition(". ")
        if rest and len(first) < WIDTH - len(indent) - 4 and "\n" not in text.strip().replace("\n\n", ""):
            lines = [first + ".", "", *wrapped(rest, WIDTH - len(indent))]
    if len(lines) <= 1:
        return [f'{indent}"""{line}"""' for line in lines]
    return [f'{indent}"""{lines[0]}', *(f"{indent}{line}".rstrip() for line in lines[1:]), f'{indent}"""']
