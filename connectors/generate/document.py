"""The part of the hub's OpenAPI document that connectors need, as models without a language."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

PREFIX = "#/components/schemas/"
EVENTS = "ServerEvent"
"""Schema of any event, of which the stream's client reads the payloads."""
ERRORS = ("ErrorBody", "ErrorDetails")


@dataclass(frozen=True)
class Type:
    """The type of a value.

    `kind` is text, uuid, integer, number, amount, boolean, any, model, enum, list or map.
    """

    kind: str
    name: str = ""
    """Name of a model or an enum."""
    item: Type | None = None
    """Type of a list's items and a map's values."""
    key: Type | None = None
    """Type of a map's keys."""
    minimum: int | None = None
    maximum: int | None = None
    is_nullable: bool = False
    """True for items and values that may be null."""


@dataclass(frozen=True)
class Field:
    """A property of a model."""

    name: str
    type: Type
    is_required: bool
    """True if it is always there and never null."""
    is_sent_always: bool
    """True if it is always there, though it may be null."""
    description: str


@dataclass
class Model:
    """A schema with properties."""

    name: str
    description: str
    fields: list[Field]
    area: str
    """Tag of the first operation that has it, in the document's order of tags."""
    is_sent: bool = False
    """True if a request contains it."""
    is_received: bool = False
    """True if an answer or an event contains it."""

    @property
    def required(self) -> list[Field]:
        return [each for each in self.fields if each.is_required]

    @property
    def optional(self) -> list[Field]:
        return [each for each in self.fields if not each.is_required]


@dataclass
class Enum:
    """A schema of a fixed set of texts."""

    name: str
    description: str
    values: list[str]
    area: str
    is_sent: bool = False
    is_received: bool = False


@dataclass(frozen=True)
class Event:
    """An event of the stream: its payload with the fields that every event has."""

    name: str
    schema: str
    description: str
    payload: str | None
    """Name of the model; None if it has none."""


@dataclass
class Document:
    """All models and enums of the routes of game servers, by name."""

    models: dict[str, Model] = field(default_factory=dict)
    enums: dict[str, Enum] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)


def read(openapi: dict[str, Any], with_errors: bool = False) -> Document:
    """Reads the schemas that the routes of game servers refer to."""
    order = [tag["name"] for tag in openapi["tags"]]
    operations = [
        operation
        for path, item in openapi["paths"].items()
        if path.startswith("/api/plugin/") or path == "/api/version"
        for operation in item.values()
    ]
    operations.sort(key=lambda operation: order.index(operation["tags"][0]))
    return Reader(openapi["components"]["schemas"]).read(operations, with_errors)


class Reader:
    def __init__(self, schemas: dict[str, Any]) -> None:
        self.schemas = schemas
        self.document = Document()
        self.area = ""

    def read(self, operations: list[dict[str, Any]], with_errors: bool) -> Document:
        for operation in operations:
            self.area = operation["tags"][0]
            for content in contents(operation.get("requestBody", {})):
                self.mark(self.type_of(content), "is_sent")
            for status, response in operation["responses"].items():
                for content in contents(response) if status.startswith("2") else ():
                    self.mark(self.type_of(content), "is_received")
        for name in ERRORS if with_errors else ():
            self.mark(self.named(name), "is_received")
        self.area = "Events"
        for event, schema in self.schemas[EVENTS]["discriminator"]["mapping"].items():
            self.read_event(event, schema.removeprefix(PREFIX))
        self.document.models = dict(sorted(self.document.models.items()))
        self.document.enums = dict(sorted(self.document.enums.items()))
        return self.document

    def read_event(self, event: str, name: str) -> None:
        schema = self.schemas[name]
        payload = next((self.type_of(part) for part in schema.get("allOf", ()) if "$ref" in part), None)
        if payload:
            self.mark(payload, "is_received")
        self.document.events.append(Event(event, name, text(schema), payload.name if payload else None))

    def mark(self, kind: Type, direction: str) -> None:
        """Marks all models that a type contains."""
        for part in (kind.item, kind.key):
            if part:
                self.mark(part, direction)
        found = self.document.models.get(kind.name) or self.document.enums.get(kind.name)
        if found and not getattr(found, direction):
            setattr(found, direction, True)
            for each in getattr(found, "fields", ()):
                self.mark(each.type, direction)

    def type_of(self, schema: dict[str, Any]) -> Type:
        """The type of a schema."""
        kind = self.type_without_null(without_null(schema))
        return replace(kind, is_nullable=kind.is_nullable or is_nullable(schema))

    def type_without_null(self, schema: dict[str, Any]) -> Type:
        name = reference(schema)
        if name == EVENTS:
            return Type("any")
        if name:
            return self.named(name)
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = next(each for each in kind if each != "null")
        if kind == "array":
            return Type("list", item=self.type_of(schema["items"]))
        if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
            key = self.type_of(schema.get("propertyNames", {"type": "string"}))
            return Type("map", item=self.type_of(schema["additionalProperties"]), key=key)
        if "enum" in schema:
            return self.inline_enum(schema["enum"])
        if kind == "string":
            return Type("uuid" if schema.get("format") == "uuid" else "text")
        if kind == "integer":
            return integer(schema)
        if kind == "number":
            # Amounts of money are exact decimals, which no format has.
            return Type("number" if {"format", "minimum", "maximum"} & schema.keys() else "amount")
        if kind == "boolean":
            return Type("boolean")
        return Type("any")

    def named(self, name: str) -> Type:
        """The type of a named schema, which is read when it is met first."""
        schema = self.schemas[name]
        if schema.get("type") == "string" and "enum" in schema:
            self.document.enums.setdefault(name, Enum(name, text(schema), schema["enum"], self.area))
            return Type("enum", name)
        if is_nullable(schema) or not {"properties", "allOf", "oneOf"} & schema.keys():
            return self.type_of(schema)
        if name not in self.document.models:
            model = self.document.models[name] = Model(name, text(schema), [], self.area)
            model.fields = self.fields_of(schema)
        return Type("model", name)

    def inline_enum(self, values: list[str]) -> Type:
        """The type of a copy of a named enum; without a name they are texts."""
        names = (name for name, schema in self.schemas.items() if schema.get("enum") == values)
        name = next(names, None)
        return self.named(name) if name else Type("text")

    def fields_of(self, schema: dict[str, Any]) -> list[Field]:
        if name := reference(schema):
            return self.fields_of(self.schemas[name])
        if "oneOf" in schema:
            return common_fields([self.fields_of(part) for part in schema["oneOf"]])
        fields = [each for part in schema.get("allOf", ()) for each in self.fields_of(part)]
        required = schema.get("required", ())
        for name, part in schema.get("properties", {}).items():
            kind = self.type_of(part)
            is_sent_always = name in required
            fields.append(Field(name, kind, is_sent_always and not kind.is_nullable, is_sent_always, text(part)))
        return fields


def common_fields(alternatives: list[list[Field]]) -> list[Field]:
    """The fields of a schema that is one of several: required where all of them require it."""
    merged: dict[str, Field] = {}
    for each in (each for fields in alternatives for each in fields):
        same = [next((other for other in fields if other.name == each.name), None) for fields in alternatives]
        is_required = all(other and other.is_required for other in same)
        is_sent_always = all(other and other.is_sent_always for other in same)
        kind = replace(each.type, is_nullable=any(other and other.type.is_nullable for other in same))
        merged.setdefault(each.name, replace(each, type=kind, is_required=is_required, is_sent_always=is_sent_always))
    return list(merged.values())


def contents(part: dict[str, Any]) -> list[dict[str, Any]]:
    """The schemas of the JSON that a request or a response has."""
    found = part.get("content", {}).get("application/json", {})
    return [found["schema"]] if "schema" in found else []


def reference(schema: dict[str, Any]) -> str | None:
    """Name of the schema that is referred to."""
    return schema["$ref"].removeprefix(PREFIX) if "$ref" in schema else None


def is_nullable(schema: dict[str, Any]) -> bool:
    return "null" in as_list(schema.get("type")) or {"type": "null"} in schema.get("oneOf", ())


def without_null(schema: dict[str, Any]) -> dict[str, Any]:
    parts = [part for part in schema.get("oneOf", ()) if part != {"type": "null"}]
    return parts[0] if len(parts) == 1 else schema


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def text(schema: dict[str, Any]) -> str:
    part = schema if "description" in schema else without_null(schema)
    return part.get("description", "").strip()


def integer(schema: dict[str, Any]) -> Type:
    low, high = schema.get("minimum"), schema.get("maximum")
    if schema.get("format") == "int32":
        low, high = -(2**31) if low is None else low, 2**31 - 1 if high is None else high
    return Type("integer", minimum=low, maximum=high)
