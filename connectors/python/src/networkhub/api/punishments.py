"""Bans, mutes, warnings, kicks."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from .. import _json
from .._call import Api, Call, TransportT, keyed, listed, model, nothing, operation, optional, path, query
from ..models import Punishment, PunishmentKind


class PunishmentsApi(Api[TransportT]):
    """Bans, mutes, warnings, kicks. Without a duration a punishment is permanent."""

    @operation
    def punish(
        self,
        player: UUID,
        type: PunishmentKind,
        reason: str | None = None,
        *,
        player_name: str | None = None,
        duration: timedelta | None = None,
        ip_based: bool | None = None,
        issuer_uuid: UUID | None = None,
        issuer_name: str | None = None,
    ) -> Call[Punishment]:
        """Punishes a player. With `ip_based` also the address they have now, and those they are seen with later."""
        body = _body(type, reason, duration, issuer_uuid, issuer_name)
        body |= _json.present(player_uuid=player, player_name=player_name, ip_based=ip_based)
        return Call("POST", path("punishments", "create"), model(Punishment), body=body, **keyed())

    @operation
    def punish_name(
        self,
        player_name: str,
        type: PunishmentKind,
        reason: str | None = None,
        *,
        duration: timedelta | None = None,
        ip_based: bool | None = None,
        issuer_uuid: UUID | None = None,
        issuer_name: str | None = None,
    ) -> Call[Punishment]:
        """Punishes the player who has or will have this name."""
        body = _body(type, reason, duration, issuer_uuid, issuer_name)
        body |= _json.present(player_name=player_name, ip_based=ip_based)
        return Call("POST", path("punishments", "create-by-name"), model(Punishment), body=body, **keyed())

    @operation
    def punish_ip(
        self,
        ip_address: str,
        type: PunishmentKind,
        reason: str | None = None,
        *,
        duration: timedelta | None = None,
        issuer_uuid: UUID | None = None,
        issuer_name: str | None = None,
    ) -> Call[Punishment | None]:
        """Punishes an address; None, and nothing is done, for a blank one."""
        body = _body(type, reason, duration, issuer_uuid, issuer_name) | {"ipAddress": ip_address}
        return Call("POST", path("punishments", "create-ip"), optional(Punishment), body=body, **keyed())

    @operation
    def record_ip(self, player: UUID, player_name: str | None, ip_address: str) -> Call[None]:
        """Notes a player's address now, so that punishments of addresses match."""
        body = _json.present(player_uuid=player, player_name=player_name, ip_address=ip_address)
        return Call("POST", path("punishments", "ip"), nothing, body=body)

    @operation
    def query(self, player: UUID | None = None, ip: str | None = None, *, active_only: bool = True) -> Call[list[Punishment]]:
        """Returns the punishments of a player, an address, or either."""
        parameters = query(player_uuid=player, ip=ip, active_only=active_only)
        return Call("GET", path("punishments", "query"), listed(Punishment), parameters)

    @operation
    def of_player(self, player: UUID, *, active_only: bool = True) -> Call[list[Punishment]]:
        """A player's punishments."""
        return Call("GET", path("punishments", "player", player), listed(Punishment), query(active_only=active_only))

    @operation
    def history_of_player(self, player: UUID, *, limit: int = 50, offset: int = 0) -> Call[list[Punishment]]:
        """All of a player's punishments, also those that ended, the latest first."""
        target = path("punishments", "player", player, "history")
        return Call("GET", target, listed(Punishment), query(limit=limit, offset=offset))

    @operation
    def of_name(self, name: str, *, active_only: bool = True) -> Call[list[Punishment]]:
        """A name's punishments."""
        target = path("punishments", "player-name", name)
        return Call("GET", target, listed(Punishment), query(active_only=active_only))

    @operation
    def history_of_name(self, name: str, *, limit: int = 50, offset: int = 0) -> Call[list[Punishment]]:
        """All of a name's punishments, also those that ended, the latest first."""
        target = path("punishments", "player-name", name, "history")
        return Call("GET", target, listed(Punishment), query(limit=limit, offset=offset))

    @operation
    def remove(
        self,
        punishment_id: int,
        *,
        actor_uuid: UUID | None = None,
        actor_name: str | None = None,
        reason: str | None = None,
    ) -> Call[Punishment]:
        """Revokes a punishment; one that is not active is answered as it is."""
        body = _json.present(punishment_id=punishment_id, actor_uuid=actor_uuid, actor_name=actor_name, reason=reason)
        return Call("POST", path("punishments", "remove"), model(Punishment), body=body, **keyed())

    @operation
    def unban_name(
        self,
        player_name: str,
        *,
        also_unban_last_ip: bool = False,
        actor_uuid: UUID | None = None,
        actor_name: str | None = None,
        reason: str | None = None,
    ) -> Call[list[Punishment]]:
        """Revokes all active bans of a name, and of its last address if asked to; returns the revoked ones."""
        body = _json.present(
            player_name=player_name,
            also_unban_last_ip=also_unban_last_ip,
            actor_uuid=actor_uuid,
            actor_name=actor_name,
            reason=reason,
        )
        return Call("POST", path("punishments", "unban-by-name"), listed(Punishment), body=body, **keyed())

    @operation
    def unban_ip(
        self,
        ip_address: str,
        *,
        actor_uuid: UUID | None = None,
        actor_name: str | None = None,
        reason: str | None = None,
    ) -> Call[list[Punishment]]:
        """Revokes all active bans of an address; returns the revoked ones."""
        body = _json.present(ip_address=ip_address, actor_uuid=actor_uuid, actor_name=actor_name, reason=reason)
        return Call("POST", path("punishments", "unban-ip"), listed(Punishment), body=body, **keyed())


def _body(
    type: PunishmentKind,
    reason: str | None,
    duration: timedelta | None,
    issuer_uuid: UUID | None,
    issuer_name: str | None,
) -> dict[str, Any]:
    duration_ms = None if duration is None else duration // timedelta(milliseconds=1)
    return _json.present(type=type, reason=reason, duration_ms=duration_ms, issuer_uuid=issuer_uuid, issuer_name=issuer_name)
