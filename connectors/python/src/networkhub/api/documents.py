"""Config documents and collections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from .._call import Answer, Api, Call, TransportT, document, model, nothing, operation, optional, path, query
from ..models import (
    CollectionDefinition,
    CollectionDocuments,
    CollectionItems,
    CollectionPage,
    ConfigDocument,
    DocumentDeletion,
    RegisteredCollection,
    RegisteredCollections,
)

Order = Literal["asc", "desc"]
"""Order of a list: the least or the greatest first."""


class ConfigApi(Api[TransportT]):
    """Config documents: JSON of at most 256 KiB, named by group and namespace."""

    @operation
    def register(self, group: str, namespace: str, default_doc: Any) -> Call[ConfigDocument]:
        """Stores a default where nothing is stored; returns the effective document. Do it at every start."""
        body = {"group": group, "namespace": namespace, "defaultDoc": default_doc}
        return Call("POST", path("config", "register"), model(ConfigDocument), body=body)

    @operation
    def publish(self, group: str, namespace: str, doc: Any) -> Call[ConfigDocument]:
        """Stores a document; all servers get CONFIG_UPDATED."""
        body = {"group": group, "namespace": namespace, "doc": doc}
        return Call("POST", path("config", "publish"), model(ConfigDocument), body=body)

    @operation
    def get(self, group: str, namespace: str) -> Call[ConfigDocument | None]:
        """A document; None where there is none."""
        return Call("GET", path("config", group, namespace), optional(ConfigDocument), is_optional=True)


class CollectionsApi(Api[TransportT]):
    """Documents under ids of your own, found by indexed fields. A document is JSON of at most 256 KiB."""

    @operation
    def register(self, collections: Sequence[CollectionDefinition]) -> Call[list[RegisteredCollection]]:
        """Creates collections, or adds indexes to them; do it at every start. An index may be BUILDING for a while."""

        def read(answer: Answer) -> list[RegisteredCollection]:
            return answer.read(RegisteredCollections).collections

        return Call("POST", path("collections", "register"), read, body={"collections": collections})

    @operation
    def get(self, collection: str, id: str) -> Call[Any]:
        """A document; None where there is none."""
        return Call("GET", path("collections", collection, id), document, is_optional=True)

    @operation
    def put(self, collection: str, id: str, document: Any) -> Call[None]:
        """Stores a document."""
        return Call("PUT", path("collections", collection, id), nothing, body=document)

    @operation
    def delete(self, collection: str, id: str) -> Call[bool]:
        """Deletes a document; returns whether it existed."""

        def read(answer: Answer) -> bool:
            return answer.read(DocumentDeletion).deleted

        return Call("DELETE", path("collections", collection, id), read)

    @operation
    def get_all(self, collection: str, ids: Sequence[str]) -> Call[CollectionDocuments]:
        """At most 200 documents by their ids."""
        return Call("POST", path("collections", collection, "mget"), model(CollectionDocuments), body={"ids": ids})

    @operation
    def find_by(
        self, collection: str, field: str, value: str | float | bool, *, limit: int = 50, cursor: str | None = None
    ) -> Call[CollectionItems]:
        """Returns documents whose field has this value, by id."""
        parameters = query(value=value, limit=limit, cursor=cursor)
        return Call("GET", path("collections", collection, "by", field), model(CollectionItems), parameters)

    @operation
    def find_range(
        self,
        collection: str,
        field: str,
        minimum: float | None = None,
        maximum: float | None = None,
        *,
        order: Order | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Call[CollectionItems]:
        """Returns documents whose field is between two numbers, both included."""
        parameters = query(min=minimum, max=maximum, order=order, limit=limit, cursor=cursor)
        return Call("GET", path("collections", collection, "range", field), model(CollectionItems), parameters)

    @operation
    def top(
        self, collection: str, field: str, *, order: Order | None = None, limit: int = 50, cursor: str | None = None
    ) -> Call[CollectionItems]:
        """The greatest values first, unless another order is given."""
        parameters = query(order=order, limit=limit, cursor=cursor)
        return Call("GET", path("collections", collection, "top", field), model(CollectionItems), parameters)

    @operation
    def page(
        self, collection: str, field: str, *, order: Order | None = None, limit: int = 50, cursor: str | None = None
    ) -> Call[CollectionPage]:
        """All documents that have the field, the least values first unless an order is given."""
        parameters = query(order=order, limit=limit, cursor=cursor)
        return Call("GET", path("collections", collection, "page", field), model(CollectionPage), parameters)
