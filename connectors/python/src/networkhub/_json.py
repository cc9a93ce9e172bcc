"""JSON as the hub reads and writes it: fields in camelCase, amounts as exact decimals."""

from __future__ import annotations

import dataclasses
import functools
import json
import types
import typing
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, TypeVar, Union
from uuid import UUID

T = TypeVar("T")
Reader = Callable[[Any], Any]


def parse(text: str | bytes) -> Any:
    """Parses JSON; numbers with a fraction become decimals, so that no digit is lost."""
    return json.loads(text, parse_float=Decimal)


def parse_object(text: str | bytes) -> dict[str, Any]:
    """The object in a text; an empty one where there is none."""
    try:
        value = parse(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def plain(value: Any) -> Any:
    """Parsed JSON with floats in place of decimals, for documents whose types are their owner's."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return value


def read(kind: Callable[..., T], value: Any) -> T:
    """Parsed JSON as a model. Unknown fields are ignored; raises `ValueError` or `TypeError` where it does not fit."""
    result: T = _reader(kind)(value)
    return result


@functools.cache
def _reader(kind: Any) -> Reader:
    """Returns the reader of a type."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return plain
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _model_reader(kind)
    if origin in (Union, types.UnionType):
        (inner,) = [_reader(each) for each in arguments if each is not type(None)]
        return lambda value: None if value is None else inner(value)
    if origin is list:
        item = _reader(arguments[0])
        return lambda value: [item(each) for each in _expect(list, value)]
    if origin is dict:
        item = _reader(arguments[1])
        return lambda value: {name: item(each) for name, each in _expect(dict, value).items()}
    if kind is UUID:
        return lambda value: UUID(_expect(str, value))
    if kind in (Decimal, float):
        return lambda value: kind(_expect((int, Decimal), value))
    # A literal of a newer hub is a text like any other.
    return functools.partial(_expect, str if origin is typing.Literal else kind)


def _expect(kind: Any, value: Any) -> Any:
    if not isinstance(value, kind):
        raise ValueError(f"{value!r} is no {getattr(kind, '__name__', 'number')}")
    return value


_EMPTY: dict[Any, Callable[[], Any]] = {kind: kind for kind in (list, dict, int, float, bool)}
"""Kinds of fields that are empty where a hub leaves them out."""


def _model_reader(model: type) -> Reader:
    hints = typing.get_type_hints(model)
    fields = [(field.name, camel_case(field.name), _reader(hints[field.name])) for field in dataclasses.fields(model)]
    required = [field.name for field in dataclasses.fields(model) if field.default is dataclasses.MISSING]
    empty = {name: _EMPTY[kind] for name in required if (kind := typing.get_origin(hints[name]) or hints[name]) in _EMPTY}

    def read_model(value: Any) -> Any:
        _expect(dict, value)
        values = {}
        for name, wire_name, read_field in fields:
            found = value.get(wire_name)
            if found is not None:
                values[name] = read_field(found)
            elif name in empty:
                values[name] = empty[name]()
            elif name in required:
                raise ValueError(f"{wire_name} is missing")
        return model(**values)

    return read_model


@functools.cache
def camel_case(name: str) -> str:
    """The wire's name of a field: `player_uuid` is `playerUuid`."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def write(value: Any) -> str:
    """A value as JSON. Fields of models that are None are left out; decimals keep all their digits."""
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ValueError(f"{value} is no number in JSON")
        return format(value, "f")
    if isinstance(value, UUID):
        return f'"{value}"'
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return write(fields_of(value))
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{json.dumps(str(name))}:{write(item)}" for name, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(write(item) for item in value) + "]"
    return json.dumps(value, allow_nan=False)


def fields_of(model: Any) -> dict[str, Any]:
    """A model's fields under the wire's names, without those that are None."""
    names = (field.name for field in dataclasses.fields(model))
    return present(**{name: getattr(model, name) for name in names})


def present(**fields: Any) -> dict[str, Any]:
    """These fields under the wire's names, without those that are None."""
    return {camel_case(name): value for name, value in fields.items() if value is not None}
