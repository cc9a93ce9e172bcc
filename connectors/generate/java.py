"""Models for Java: a record in a file of its own for each, an enum for each set of texts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from document import Document, Enum, Field, Model, Type
from prose import snake_case, wrapped

WIDTH = 120
SIMPLE = {
    "text": "String",
    "uuid": "UUID",
    "number": "double",
    "amount": "BigDecimal",
    "boolean": "boolean",
    "any": "JsonElement",
}
BOXED = {"int": "Integer", "long": "Long", "double": "Double", "boolean": "Boolean"}
KEYWORDS = {
    "case",
    "class",
    "continue",
    "default",
    "do",
    "else",
    "enum",
    "final",
    "for",
    "if",
    "import",
    "new",
    "package",
    "return",
}
KEYWORDS |= {"private", "protected", "public", "return", "static", "super", "switch", "this", "throw", "void", "while"}
IMPORTS = {
    "BigDecimal": "java.math.BigDecimal",
    "JsonElement": "com.google.gson.JsonElement",
    "List": "java.util.List",
    "Map": "java.util.Map",
    "Objects": "java.util.Objects",
    "SerializedName": "com.google.gson.annotations.SerializedName",
    "UUID": "java.util.UUID",
}


def generate(document: Document) -> dict[str, str]:
    """The text of each file by its name."""
    files = {f"{model.name}.java": record(model) for model in document.models.values()}
    return files | {f"{enum.name}.java": enumeration(enum) for enum in document.enums.values()}


def record(model: Model) -> str:
    fields = [component(each) for each in model.fields]
    body = builder(model) if model.is_sent else []
    parameters = [(name_of(each), markup(each.description)) for each in model.fields]
    lines = [
        *javadoc(markup(model.description), "", parameters),
        f"public record {model.name}(",
        *joined(fields, "        "),
    ]
    lines[-1] += ") {" if body else ") {}"
    return source(lines + body + ["}"] if body else lines)


def component(each: Field) -> str:
    """A component; one whose name is a word of the language has an underscore behind it."""
    annotation = f'@SerializedName("{each.name}") ' if name_of(each) != each.name else ""
    return f"{annotation}{type_of(each)} {name_of(each)}"


def name_of(each: Field) -> str:
    return each.name + "_" if each.name in KEYWORDS else each.name


def builder(model: Model) -> list[str]:
    """A builder: of many fields only few are set, and their order says nothing."""
    required = [name_of(each) for each in model.required]
    check = f"; {' and '.join(filter(None, [', '.join(required[:-1]), required[-1]]))} must be set" if required else ""
    values = [
        f'Objects.requireNonNull({name_of(each)}, "{each.name}")' if each.is_required else name_of(each) for each in model.fields
    ]
    return [
        "    /** Returns an empty builder. */",
        "    public static Builder builder() {",
        "        return new Builder();",
        "    }",
        "",
        *javadoc(f"Sets the fields of a {{@link {model.name}}}{check}.", "    "),
        "    public static final class Builder {",
        *(f"        private {nullable(each)} {name_of(each)};" for each in model.fields),
        "",
        "        private Builder() {}",
        *(line for each in model.fields for line in setter(each)),
        "",
        f"        /** Returns the {{@link {model.name}}}. */",
        f"        public {model.name} build() {{",
        *call(f"            return new {model.name}(", values, ");"),
        "        }",
        "    }",
    ]


def setter(each: Field) -> list[str]:
    name = name_of(each)
    return [
        "",
        *javadoc(markup(each.description) or f"Sets {{@code {each.name}}}.", "        "),
        f"        public Builder {name}({type_of(each)} {name}) {{",
        f"            this.{name} = {name};",
        "            return this;",
        "        }",
    ]


def nullable(each: Field) -> str:
    return BOXED.get(type_of(each), type_of(each))


def enumeration(enum: Enum) -> str:
    lines = [*javadoc(markup(enum.description), ""), f"public enum {enum.name} {{"]
    for value in enum.values:
        constant = snake_case(value).upper()
        if constant != value:
            lines.append(f'    @SerializedName("{value}")')
        lines.append(f"    {constant},")
    if enum.is_received:
        lines += ["    /** A value that is newer than this library. */", "    UNKNOWN,"]
    lines[-1] = lines[-1].rstrip(",")
    return source([*lines, "}"])


def type_of(each: Field) -> str:
    name = type_name(each.type)
    return name if each.is_required else BOXED.get(name, name)


def type_name(kind: Type) -> str:
    if kind.kind == "integer":
        return "int" if kind.maximum is not None and kind.maximum < 2**31 else "long"
    if kind.item and kind.kind == "list":
        return f"List<{boxed(kind.item)}>"
    if kind.item and kind.key:
        return f"Map<{boxed(kind.key)}, {boxed(kind.item)}>"
    return SIMPLE.get(kind.kind, kind.name)


def boxed(kind: Type) -> str:
    return BOXED.get(type_name(kind), type_name(kind))


def source(lines: list[str]) -> str:
    code = "\n".join(line for line in lines if not line.strip().startswith(("*", "/**")))
    used = sorted(path for name, path in IMPORTS.items() if re.search(rf"\b{name}\b", code))
    imports = [f"import {path};" for path in used] + ([""] if used else [])
    head = ["// Generated from the hub's OpenAPI document by connectors/generate.", "package networkhub.model;", ""]
    return "\n".join([*head, *imports, *lines]) + "\n"


def javadoc(text: str, indent: str, parameters: Sequence[tuple[str, str]] = ()) -> list[str]:
    lines = wrapped(text, WIDTH - len(indent) - 3)
    lines = [f"<p>{line}" if before == "" else line for before, line in zip([None, *lines], lines, strict=False)]
    described = [(name, about) for name, about in parameters if about]
    if described and lines:
        lines.append("")
    for name, about in described:
        first, *rest = wrapped(f"@param {name} {about}".replace("\n\n", " "), WIDTH - len(indent) - 7)
        lines += [first, *(f"    {line}" for line in rest)]
    if not lines:
        return []
    if len(lines) == 1 and not described:
        return [f"{indent}/** {lines[0]} */"]
    return [f"{indent}/**", *(f"{indent} * {line}".rstrip() for line in lines), f"{indent} */"]


def markup(text: str) -> str:
    """Markdown as Javadoc."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;").replace("*/", "*&#47;")
    # A backslash begins an escape, even in a comment.
    text = text.replace("\\", "&#92;")
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"`([^`]*)`", lambda code: "{@code " + unescaped(code[1]) + "}", text)


def unescaped(code: str) -> str:
    code = code.replace("&lt;", "<").replace("&gt;", ">").replace("&#64;", "@").replace("&amp;", "&")
    return re.sub(r"&#92;(?!u)", r"\\", code)


def call(start: str, parts: list[str], end: str) -> list[str]:
    """A list in parentheses, on as many lines as it needs."""
    line = start + ", ".join(parts) + end
    if len(line) <= WIDTH:
        return [line]
    lines = joined(parts, " " * (len(start) - len(start.lstrip()) + 8))
    lines[-1] += end
    return [start, *lines]


def joined(parts: list[str], indent: str) -> list[str]:
    return [indent + line for line in wrapped_parts(parts, WIDTH - len(indent))]


def wrapped_parts(parts: list[str], width: int) -> list[str]:
    lines = [""]
    for part, end in zip(parts, [","] * (len(parts) - 1) + [""], strict=True):
        if lines[-1] and len(lines[-1]) + len(part) + 2 > width:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + part + end
    return lines
