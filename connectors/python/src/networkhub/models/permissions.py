"""Permissions, punishments, messages and languages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID

PunishmentType = Literal["BAN", "MUTE", "WARN", "KICK"]
"""BAN keeps the player out, MUTE from chatting; WARN is recorded and active, KICK is recorded and never active."""

LanguageSource = Literal["PLAYER", "AUTO"]
"""Who chose a language: PLAYER, do not ask again; AUTO, it was detected."""


@dataclass(frozen=True, slots=True)
class PermissionNode:
    """Allows or denies something."""

    node: str
    """Such as `essentials.fly`."""
    value: bool | None = None
    """False denies; None is True."""
    context: str | None = None
    """Where it applies, as `server=lobby,gamemode=skyblock`; None is everywhere."""
    world: str | None = None
    expires_at: int | None = None
    """Milliseconds since the epoch; None is never."""


@dataclass(frozen=True, slots=True)
class PermissionGroup:
    """A group of permissions."""

    group_id: str
    display_name: str | None = None
    priority: int | None = None
    """The higher one decides."""
    chat_prefix: str | None = None
    chat_prefix_color: str | None = None
    chat_name_color: str | None = None
    permissions: list[PermissionNode] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class EffectivePermissions:
    """What a player may do, all groups considered."""

    player_uuid: UUID
    groups: list[str]
    """Those the player is in, the deciding one first."""
    permissions: dict[str, bool]
    """By node, wildcards as such, in lower case."""
    revision: int | None = None
    """Rises with every change: a PERMISSIONS_UPDATED of this one or an earlier one is in here already."""
    valid_until: int | None = None
    """When the answer changes by itself because a node expires, in milliseconds since the epoch; None is never."""


@dataclass(frozen=True, slots=True)
class VersionedPermissions:
    """What the hub answered to a question with an ETag."""

    permissions: EffectivePermissions | None
    """None where they are still those of the tag that was sent."""
    etag: str | None
    """Names this answer; None where the hub gives none."""


@dataclass(frozen=True, slots=True)
class Punishment:
    """A punishment, active or not."""

    id: int
    type: PunishmentType
    issued_at: int
    player_uuid: UUID | None = None
    """None for one of a name or an address."""
    player_name: str | None = None
    reason: str | None = None
    duration_ms: int | None = None
    """None is permanent."""
    expires_at: int | None = None
    """Milliseconds since the epoch; None is never."""
    ip_based: bool = False
    """Whether it also covers the player's address."""
    active: bool = False
    """Whether it was in force when the hub answered."""
    ip_address: str | None = None
    issuer_uuid: UUID | None = None
    issuer_name: str | None = None


@dataclass(frozen=True, slots=True)
class Locale:
    """A language of a network."""

    locale: str
    display_name: str
    is_default: bool
    enabled: bool


@dataclass(frozen=True, slots=True)
class Catalog:
    """All messages of a network, or of some namespaces."""

    version: int
    """Rises when a message changes."""
    default_locale: str
    locales: list[Locale]
    messages: dict[str, dict[str, str]]
    """By language, then by key."""


@dataclass(frozen=True, slots=True)
class PlayerLanguage:
    """The language of a player; both are None when it was never set."""

    locale: str | None = None
    source: LanguageSource | None = None
