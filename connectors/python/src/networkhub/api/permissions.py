"""Groups and what players may do; messages and languages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from .. import _json
from .._call import (
    Answer,
    Api,
    Call,
    TransportT,
    existed,
    listed,
    model,
    nothing,
    operation,
    optional,
    path,
    query,
)
from ..models import (
    EffectivePermissions,
    InsertedMessages,
    LanguageSource,
    Locale,
    LocalizationCatalog,
    PermissionGroup,
    PermissionGroupUpdate,
    PermissionNode,
    PermissionNodeInput,
    PlayerLanguage,
)


@dataclass(frozen=True, slots=True)
class VersionedPermissions:
    """Answer to a question with an ETag."""

    permissions: EffectivePermissions | None
    """None if they are still those of the tag that was sent."""
    etag: str | None
    """Tag of this answer; None if the hub gives none."""


class PermissionsApi(Api[TransportT]):
    """Groups and what players may do."""

    @operation
    def effective(
        self, player: UUID, *, context: str | None = None, world: str | None = None, etag: str | None = None
    ) -> Call[VersionedPermissions]:
        """Returns a player's effective permissions, groups included.

        `context` is where they are, as `server=lobby,gamemode=skyblock`; `etag` that of an answer that is still kept.
        """

        def read(answer: Answer) -> VersionedPermissions:
            tag = answer.headers.get("etag")
            if answer.status == 304:
                return VersionedPermissions(None, tag or etag)
            return VersionedPermissions(answer.read(EffectivePermissions), tag)

        headers = {} if etag is None else {"If-None-Match": etag}
        target = path("permissions", "users", player, "effective")
        return Call("GET", target, read, query(context=context, world=world), headers=headers)

    @operation
    def groups(self) -> Call[list[PermissionGroup]]:
        """All groups."""
        return Call("GET", path("permissions", "groups"), listed(PermissionGroup))

    @operation
    def group(self, group_id: str) -> Call[PermissionGroup | None]:
        """A group; None where there is none."""
        return Call("GET", path("permissions", "groups", group_id), optional(PermissionGroup), is_optional=True)

    @operation
    def put_group(self, group_id: str, group: PermissionGroupUpdate) -> Call[None]:
        """Creates or replaces a group."""
        return Call("PUT", path("permissions", "groups", group_id), nothing, body=group)

    @operation
    def delete_group(self, group_id: str) -> Call[bool]:
        """Deletes a group; returns whether it existed."""
        return Call("DELETE", path("permissions", "groups", group_id), existed, is_optional=True)

    @operation
    def of_player(self, player: UUID) -> Call[list[PermissionNode]]:
        """A player's own nodes, without those of groups."""
        return Call("GET", path("permissions", "users", player, "permissions"), listed(PermissionNode))

    @operation
    def add(self, player: UUID, node: PermissionNodeInput) -> Call[None]:
        """Gives a player a node; one of the same name, context and world is replaced."""
        return Call("POST", path("permissions", "users", player, "permissions"), nothing, body=node)

    @operation
    def remove(self, player: UUID, node: PermissionNodeInput) -> Call[None]:
        """Takes a node from a player."""
        return Call("POST", path("permissions", "users", player, "permissions", "remove"), nothing, body=node)


class LocalizationApi(Api[TransportT]):
    """Messages and languages."""

    @operation
    def catalog(self, namespaces: Sequence[str] = ()) -> Call[LocalizationCatalog]:
        """The messages of these namespaces; none is all. Of two namespaces with the same key the first one named counts."""
        parameters = query(namespace=",".join(namespaces) or None)
        return Call("GET", path("localization", "catalog"), model(LocalizationCatalog), parameters)

    @operation
    def register_defaults(self, namespace: str, locale: str, entries: Mapping[str, str]) -> Call[int]:
        """Adds the messages that are missing; never overwrites one, so do it at every start. Returns the number of new ones."""

        def read(answer: Answer) -> int:
            return answer.read(InsertedMessages).inserted

        body = {"namespace": namespace, "locale": locale, "entries": entries}
        return Call("POST", path("localization", "defaults"), read, body=body)

    @operation
    def locales(self) -> Call[list[Locale]]:
        """The languages, the default first."""
        return Call("GET", path("localization", "locales"), listed(Locale))

    @operation
    def language(self, player: UUID) -> Call[PlayerLanguage]:
        """A player's language."""
        return Call("GET", path("localization", "players", player, "locale"), model(PlayerLanguage))

    @operation
    def set_language(
        self, player: UUID, locale: str | None, source: LanguageSource = "PLAYER", *, username: str | None = None
    ) -> Call[PlayerLanguage]:
        """Sets a player's language; None unsets it. `username` records a player who was never seen."""
        body = _json.present(locale=locale, source=source)
        target = path("localization", "players", player, "locale")
        return Call("PUT", target, model(PlayerLanguage), query(username=username), body=body)
