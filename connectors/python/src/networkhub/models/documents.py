"""Config documents and collections."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

IndexType = Literal["string", "number", "bool"]
"""What an index holds."""

Order = Literal["asc", "desc"]
"""The order of a list: the least or the greatest first."""


@dataclass(frozen=True, slots=True)
class ConfigDocument:
    """A config document."""

    group: str
    namespace: str
    doc: Any = None


@dataclass(frozen=True, slots=True)
class CollectionIndex:
    """A field that documents are found by, with dots for nested ones."""

    field: str
    type: IndexType


@dataclass(frozen=True, slots=True)
class CollectionDefinition:
    """A collection with its indexes."""

    name: str
    key: str | None = None
    """The field that holds a document's id."""
    indexes: list[CollectionIndex] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """An index as the hub has it."""

    field: str
    type: IndexType
    state: str
    """`READY` or `BUILDING`."""


@dataclass(frozen=True, slots=True)
class CollectionStatus:
    """A collection as the hub has it."""

    name: str
    key: str | None = None
    indexes: list[IndexStatus] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document with its id."""

    id: str
    doc: Any = None


@dataclass(frozen=True, slots=True)
class DocumentBatch:
    """Documents that were asked for by id."""

    items: list[StoredDocument]
    """Those that exist."""
    rest: list[str] = field(default_factory=list)
    """Ids whose documents did not fit; ask for them again."""


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """Documents in an order."""

    items: list[StoredDocument]
    next_cursor: str | None = None
    """Where the next page begins; None at the end."""
