"""Write modules for a Network Hub in Python.

Times are milliseconds since 1970 (UTC), durations milliseconds, UUIDs text in lower case with hyphens. Unknown or
inapplicable values are ``None``.
"""

import dataclasses
import json
import re
from typing import TypeVar

from wit_world.imports.types import CallContext, PlayerRef, PunishmentKind

from ._host import HostError

__all__ = ["CallContext", "HostError", "PlayerRef", "PunishmentKind", "config"]

T = TypeVar("T")


def config(context: CallContext, into: type[T]) -> T:
    """The module's configuration as a dataclass, with fields in snake_case for JSON's camelCase.

    An unknown field, or one of another type than its default, raises ``ValueError``, which ends the call as failed and
    logs the reason for the owner. Give every field a default: in the trial call at upload nothing is configured.
    """
    standard = into()
    for name, value in json.loads(context.config).items():
        field = re.sub(r"[A-Z]", lambda letter: "_" + letter[0].lower(), name)
        if field not in {known.name for known in dataclasses.fields(standard)}:  # type: ignore[arg-type]
            raise ValueError(f"the module's configuration is wrong: unknown field `{name}`")
        default = getattr(standard, field)
        if default is not None and not _fits(value, default):
            raise ValueError(f"the module's configuration is wrong: `{name}` must be of type {type(default).__name__}")
        setattr(standard, field, value)
    return standard


def _fits(value: object, default: object) -> bool:
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if isinstance(default, float):
        return isinstance(value, (int, float))
    return isinstance(value, type(default))
