"""Models for Rust: structs and enums with serde, in a module for each tag of the document."""

from __future__ import annotations

import re

from document import Document, Enum, Field, Model, Type
from prose import camel_case, pascal_case, snake_case, wrapped

WIDTH = 116
SIMPLE = {"text": "String", "uuid": "Uuid", "number": "f64", "amount": "Amount", "boolean": "bool", "any": "Value"}
NAMES = {"type": "kind", "ref": "reference", "for": "r#for", "match": "matched"}
STYLES = {"SCREAMING_SNAKE_CASE": str.upper, "lowercase": str.lower}
# In the order of the sources: the standard library, other crates, this one.
IMPORTS = [
    {"HashMap": "std::collections::HashMap"},
    {"Deserialize": "serde::Deserialize", "Serialize": "serde::Serialize", "Value": "serde_json::Value", "Uuid": "uuid::Uuid"},
    {"Amount": "crate::Amount"},
]
HEAD = "// Generated from the hub's OpenAPI document by connectors/generate.\n"
ROOT = """//! Requests and answers of the hub. Times are milliseconds since the Unix epoch; `None` is a null or missing field.

#![allow(missing_docs, clippy::doc_markdown, clippy::struct_excessive_bools, reason = "as the document has it")]

use std::fmt;

use serde::Serialize as _;
"""
DISPLAY = """
/// Writes enums as the document has them.
macro_rules! display_as_serialized {
    ($($name:ident),* $(,)?) => {
        $(impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.serialize(f)
            }
        })*
    };
}
"""


def generate(document: Document) -> dict[str, str]:
    """The text of each file by its name: a module for each tag of the document."""
    areas = sorted({each.area for each in [*document.models.values(), *document.enums.values()]})
    modules = [area.lower().replace(" ", "_") for area in areas]
    root = [ROOT, *(f"mod {name};" for name in modules), "", *(f"pub use self::{name}::*;" for name in modules)]
    root += [DISPLAY, f"display_as_serialized!({', '.join(document.enums)});", ""]
    files = {f"{name}.rs": module(document, area) for name, area in zip(modules, areas, strict=True)}
    return {name: HEAD + text for name, text in (files | {"mod.rs": "\n".join(root)}).items()}


def module(document: Document, area: str) -> str:
    parts = [enumeration(enum) for enum in document.enums.values() if enum.area == area]
    parts += [structure(model, Defaults(document)) for model in document.models.values() if model.area == area]
    code = "\n".join(parts)
    words = set(re.findall(r"\w+", "\n".join(line for line in code.split("\n") if not line.strip().startswith("///"))))
    foreign = [each.name for each in [*document.enums.values(), *document.models.values()] if each.area != area]
    groups = [[f"use {path};" for name, path in group.items() if name in words] for group in IMPORTS]
    groups[-1] += [f"use super::{{{', '.join(sorted(words & set(foreign)))}}};"] if words & set(foreign) else []
    imports = "\n\n".join("\n".join(group) for group in groups if group)
    imports = imports.replace("use serde::Deserialize;\nuse serde::Serialize;", "use serde::{Deserialize, Serialize};")
    return f"\n{imports}\n\n{code}"


class Defaults:
    """Knows which types have a default."""

    def __init__(self, document: Document) -> None:
        self.document = document

    def of(self, kind: Type) -> bool:
        if kind.kind == "model":
            return all(self.of(each.type) for each in self.document.models[kind.name].required)
        return kind.kind != "enum"

    def is_equivalence(self, kind: Type) -> bool:
        """True if the type is `Eq`: floating point is not."""
        if kind.kind == "model":
            return all(self.is_equivalence(each.type) for each in self.document.models[kind.name].fields)
        return kind.kind not in ("number", "any") and all(self.is_equivalence(part) for part in (kind.item,) if part)


def enumeration(enum: Enum) -> str:
    derived = ["Clone", "Copy", "Debug", "PartialEq", "Eq", "Hash", "Serialize"] + ["Deserialize"] * enum.is_received
    style = next(name for name, change in STYLES.items() if all(change(value) == value for value in enum.values))
    lines = [*doc(enum.description, ""), f"#[derive({', '.join(derived)})]", f'#[serde(rename_all = "{style}")]']
    lines += ["#[non_exhaustive]"] * enum.is_received
    lines += [f"pub enum {enum.name} {{", *(f"    {pascal_case(value)}," for value in enum.values)]
    if enum.is_received:
        lines += ["    /// A value that is newer than this crate.", "    #[serde(other)]", "    Unknown,"]
    return "\n".join([*lines, "}", ""])


def structure(model: Model, defaults: Defaults) -> str:
    kind = Type("model", model.name)
    derived = ["Clone", "Debug"] + ["Default"] * (model.is_sent and defaults.of(kind)) + ["PartialEq"]
    derived += ["Eq"] * defaults.is_equivalence(kind) + ["Serialize"] * model.is_sent + ["Deserialize"] * model.is_received
    lines = doc(model.description, "")
    lines += [f"#[derive({', '.join(derived)})]", '#[serde(rename_all = "camelCase")]']
    # Fields may be added to what only the hub makes.
    lines += [] if model.is_sent else ["#[non_exhaustive]"]
    lines.append(f"pub struct {model.name} {{")
    for each in model.fields:
        lines += doc(each.description, "    ")
        lines += [f"    {attribute}" for attribute in attributes(each, model)]
        lines.append(f"    pub {name_of(each)}: {type_of(each)},")
    lines += ["}", ""]
    if model.is_sent and model.optional and not defaults.of(kind):
        lines += constructor(model)
    return "\n".join(lines)


def attributes(each: Field, model: Model) -> list[str]:
    parts = []
    if camel_case(name_of(each)) != each.name and not name_of(each).startswith("r#"):
        parts.append(f'rename = "{each.name}"')
    if not each.is_required and model.is_sent:
        parts.append('skip_serializing_if = "Option::is_none"')
    return [f"#[serde({', '.join(parts)})]"] if parts else []


def constructor(model: Model) -> list[str]:
    """A function that needs only what is required; texts may be borrowed."""
    parameters = [f"{name_of(each)}: {'&str' if type_of(each) == 'String' else type_of(each)}" for each in model.required]
    values = {
        each: f"{name_of(each)}: {name_of(each)}.to_owned()" if type_of(each) == "String" else name_of(each)
        for each in model.required
    }
    fields = [values.get(each, f"{name_of(each)}: None") for each in model.fields]
    return [
        f"impl {model.name} {{",
        "    /// One with the required fields.",
        f"    pub fn new({', '.join(parameters)}) -> Self {{",
        f"        Self {{ {', '.join(fields)} }}",
        "    }",
        "}",
        "",
    ]


def name_of(each: Field) -> str:
    return NAMES.get(each.name, snake_case(each.name))


def type_of(each: Field) -> str:
    name = type_name(each.type)
    return name if each.is_required else f"Option<{name}>"


def type_name(kind: Type) -> str:
    if kind.kind == "integer":
        return integer_name(kind)
    if kind.item and kind.kind == "list":
        return f"Vec<{item_name(kind.item)}>"
    if kind.item and kind.key:
        return f"HashMap<{type_name(kind.key)}, {item_name(kind.item)}>"
    return SIMPLE.get(kind.kind, kind.name)


def item_name(kind: Type) -> str:
    return f"Option<{type_name(kind)}>" if kind.is_nullable else type_name(kind)


def integer_name(kind: Type) -> str:
    """The smallest usual type that holds the range."""
    sign = "i" if kind.minimum is None or kind.minimum < 0 else "u"
    if kind.maximum == 65535:
        return "u16"
    return sign + ("32" if kind.maximum is not None and kind.maximum < 2**31 else "64")


def doc(text: str, indent: str) -> list[str]:
    # Brackets that are no links.
    text = re.sub(r"\[([^\]]*)\](?!\()", r"\\[\1\\]", text)
    return [f"{indent}/// {line}".rstrip() for line in wrapped(text, WIDTH - len(indent))]
