"""Types for TypeScript: an interface for each model, a union for each set of texts, and one of all events."""

from __future__ import annotations

from document import EVENTS, Document, Enum, Event, Field, Model, Type
from prose import wrapped

WIDTH = 126
SIMPLE = {"text": "string", "uuid": "string", "integer": "number", "number": "number", "amount": "number", "any": "unknown"}
HEAD = "// Generated from the hub's OpenAPI document by connectors/generate.\n"


def generate(document: Document) -> dict[str, str]:
    """The text of each file by its name."""
    parts = [union(enum) for enum in document.enums.values()]
    parts += [interface(model) for model in document.models.values()]
    parts += [event_type(event) for event in document.events]
    names = "".join(f"\n  | {event.schema}" for event in document.events)
    parts.append([f"/** An event of the stream. */\nexport type {EVENTS} ={names};"])
    return {"schemas.ts": "\n".join([HEAD, *("\n".join(lines) + "\n" for lines in parts)])}


def union(enum: Enum) -> list[str]:
    values = "".join(f'\n  | "{value}"' for value in enum.values)
    return [*jsdoc(enum.description, ""), f"export type {enum.name} ={values};"]


def interface(model: Model) -> list[str]:
    lines = [*jsdoc(model.description, ""), f"export interface {model.name} {{"]
    for each in model.fields:
        lines += [*jsdoc(each.description, "  "), f"  {member(each)};"]
    return [*lines, "}"]


def event_type(event: Event) -> list[str]:
    payload = f"{event.payload} & " if event.payload else ""
    common = [f'  type: "{event.name}";', "  /** Milliseconds since the Unix epoch by the hub's clock. */", "  at: number;"]
    return [*jsdoc(event.description, ""), f"export type {event.schema} = {payload}{{", *common, "};"]


def member(each: Field) -> str:
    return f"{each.name}{'' if each.is_sent_always else '?'}: {type_name(each.type)}"


def type_name(kind: Type) -> str:
    return plain_name(kind) + (" | null" if kind.is_nullable else "")


def plain_name(kind: Type) -> str:
    if kind.item and kind.kind == "list":
        return f"({type_name(kind.item)})[]" if kind.item.is_nullable else f"{type_name(kind.item)}[]"
    if kind.item:
        return f"{{ [key: string]: {type_name(kind.item)} }}"
    return SIMPLE.get(kind.kind, kind.name or kind.kind)


def jsdoc(text: str, indent: str) -> list[str]:
    lines = wrapped(text.replace("*/", "*\\/"), WIDTH - len(indent) - 3)
    if len(lines) <= 1:
        return [f"{indent}/** {line} */" for line in lines]
    return [f"{indent}/**", *(f"{indent} * {line}".rstrip() for line in lines), f"{indent} */"]
