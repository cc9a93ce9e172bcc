"""Requests of a handler to the hub: up to 64 effects a call. They need contract 1.1.

Each effect is a dataclass with the fields of the hub's route for the same change; the functions here make the common
ones. They are applied in their order, in one transaction with what the call wrote into the ``state``: all or nothing. One
that the hub refuses fails the call, unless it is ``optional``.

Each needs a scope among ``scopes`` in ``module.toml``, which the module's owner grants. Amounts are units of the currency,
with up to four decimals. Documents and payloads are what ``json.dumps`` can write as an object.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wit_world.imports.effects import ChatTarget_Network as ToNetwork
from wit_world.imports.effects import ChatTarget_Player as ToPlayer
from wit_world.imports.effects import ChatTarget_Server as ToServer
from wit_world.imports.effects import ChatTarget_ServerType as ToServerType
from wit_world.imports.effects import OnLost
from wit_world.imports.types import PunishmentKind

ChatTarget = ToNetwork | ToServerType | ToServer | ToPlayer
"""Players to whom a message is shown: all, those on servers of a type, those on a server, or one."""

JsonObject = Mapping[str, object]


@dataclass(kw_only=True)
class Effect:
    """One change that the hub makes with the call's others, or not at all."""

    optional: bool = False
    """True: the others are applied even if the hub refuses this one."""


@dataclass(kw_only=True)
class ModifyCurrency(Effect):
    """Adds to a balance. Scope ``economy:write``."""

    owner_type: str = "player"
    owner_key: str
    currency: str
    amount: float
    """Negative takes away."""
    reason: str | None = None
    exact: bool = False
    """True: refused if the balance can't change by all of the amount."""


@dataclass(kw_only=True)
class Operation:
    """One part of a ``Transaction``."""

    owner_type: str = "player"
    owner_key: str
    currency: str
    amount: float


@dataclass(kw_only=True)
class Transaction(Effect):
    """Adds to several balances, or to none. Scope ``economy:write``."""

    operations: Sequence[Operation]
    reason: str | None = None


@dataclass(kw_only=True)
class IncrementStatistic(Effect):
    """Adds to a statistic. Scope ``players:write`` for players, else ``economy:write``."""

    owner_type: str = "player"
    owner_key: str
    name: str
    game_mode: str | None = None
    """``None``: ``global``."""
    amount: float


@dataclass(kw_only=True)
class PutPlayerData(Effect):
    """Writes a player's data; refused as ``session_open`` while the player has a session. Scope ``players:write``."""

    player_uuid: str
    game_mode: str
    namespace: str
    data: str
    version: int | None = None
    """The version it must have, as read; ``None``: any."""


@dataclass(kw_only=True)
class DeletePlayerData(Effect):
    """Deletes a player's data; refused as ``session_open`` while the player has a session. Scope ``players:write``."""

    player_uuid: str
    game_mode: str
    namespace: str
    version: int | None = None


@dataclass(kw_only=True)
class PutDocument(Effect):
    """Writes a document of a collection. Scope ``collections:write``."""

    collection: str
    id: str
    document: JsonObject
    expected: JsonObject | None = None
    """The document that must be there, as read, else refused as ``document_changed``; ``None``: any, or none."""


@dataclass(kw_only=True)
class DeleteDocument(Effect):
    """Deletes a document of a collection. Scope ``collections:write``."""

    collection: str
    id: str
    expected: JsonObject | None = None


@dataclass(kw_only=True)
class PutPermission(Effect):
    """Sets a permission node of a player, one that the owner's patterns allow. Scope ``permissions:write``."""

    player_uuid: str
    node: str
    value: bool = True
    """True grants it, false denies it."""
    context: str | None = None
    world: str | None = None
    expires_at_ms: int | None = None


@dataclass(kw_only=True)
class RemovePermission(Effect):
    """Removes a permission node of a player. Scope ``permissions:write``."""

    player_uuid: str
    node: str
    context: str | None = None
    world: str | None = None


@dataclass(kw_only=True)
class Punish(Effect):
    """Punishes a player, by UUID or by name. The modules at ``punishment`` are asked before. Scope
    ``punishments:write``."""

    player_uuid: str | None = None
    player_name: str | None = None
    kind: PunishmentKind
    duration_ms: int | None = None
    """``None``: permanent."""
    reason: str


@dataclass(kw_only=True)
class RevokePunishment(Effect):
    """Revokes a punishment. Scope ``punishments:write``."""

    id: int
    reason: str | None = None


@dataclass(kw_only=True)
class SendChat(Effect):
    """Shows a message to players; refused as ``player_offline`` for a player who is. Scope ``chat:send``."""

    target: ChatTarget
    text: str
    """1 to 1,024 characters without control characters."""
    prefix: str | None = None
    """Up to 64 characters."""


@dataclass(kw_only=True)
class Emit(Effect):
    """Publishes an event ``MODULE_EVENT``."""

    name: str
    """1 to 64 of ``A-Z a-z 0-9 . _ -``."""
    key: str | None = None
    """The key of its order, 1 to 128 characters; ``None``: ``network``."""
    payload: JsonObject
    """Up to 16 KiB."""


@dataclass(kw_only=True)
class Deliver(Effect):
    """Creates a delivery for a player, by UUID or by name. Scope ``deliveries:write``."""

    player_uuid: str | None = None
    player_name: str | None = None
    kind: str
    payload: JsonObject
    """Up to 16 KiB."""
    server_type: str | None = None
    server_id: str | None = None
    not_before_ms: int | None = None
    expires_at_ms: int | None = None
    reference: str | None = None
    on_lost: OnLost | None = None
    """If its server vanished: ``HOLD`` (default) waits for the staff, ``RETRY`` carries it out again."""


@dataclass(kw_only=True)
class RunCommand(Effect):
    """Runs a command on a server, one whose first word the owner allowed. At most once. Scope ``servers:control``."""

    server_id: str
    command: str
    timeout_ms: int | None = None


@dataclass(kw_only=True)
class Transfer(Effect):
    """Sends a player to a server. At most once. Scope ``matchmaking``."""

    player_uuid: str
    target_server_id: str
    target_world_id: str | None = None


@dataclass(kw_only=True)
class CallWebhook(Effect):
    """Calls one webhook of the network, with an event ``MODULE_EVENT``. Scope ``webhooks:call``."""

    webhook_id: str
    name: str
    payload: JsonObject


@dataclass(kw_only=True)
class SetTimer(Effect):
    """Sets a timer, replacing one of the same key."""

    key: str
    """1 to 128 characters. ``player:<uuid>`` is deleted with its player."""
    at_ms: int
    """At least a second from now, at most 400 days."""
    payload: JsonObject
    """Up to 4 KiB."""


@dataclass(kw_only=True)
class CancelTimer(Effect):
    """Cancels a timer; none of that key is fine."""

    key: str


def modify_currency(
    player_uuid: str, currency: str, amount: float, reason: str | None = None, *, optional: bool = False
) -> ModifyCurrency:
    """Adds to a player's balance; negative takes away. Scope ``economy:write``."""
    return ModifyCurrency(owner_key=player_uuid, currency=currency, amount=amount, reason=reason, optional=optional)


def increment_statistic(
    player_uuid: str, name: str, amount: float = 1, *, optional: bool = False
) -> IncrementStatistic:
    """Adds to a player's statistic of the game mode ``global``. Scope ``players:write``."""
    return IncrementStatistic(owner_key=player_uuid, name=name, amount=amount, optional=optional)


def tell(player_uuid: str, text: str, *, optional: bool = False) -> SendChat:
    """Shows a message to a player; refused if they are offline. Scope ``chat:send``."""
    return SendChat(target=ToPlayer(player_uuid), text=text, optional=optional)


def announce(text: str, *, optional: bool = False) -> SendChat:
    """Shows a message to all players of the network. Scope ``chat:send``."""
    return SendChat(target=ToNetwork(), text=text, optional=optional)


def emit(name: str, payload: JsonObject, key: str | None = None) -> Emit:
    """Publishes an event ``MODULE_EVENT``, in order with others of its key."""
    return Emit(name=name, key=key, payload=payload)


def set_timer(key: str, at_ms: int, payload: JsonObject | None = None) -> SetTimer:
    """Sets a timer, replacing one of the same key."""
    return SetTimer(key=key, at_ms=at_ms, payload=payload or {})
