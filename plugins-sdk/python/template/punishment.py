"""Second chance: a first ban is short, a third mute becomes a ban, and some players are never punished."""

from dataclasses import dataclass, replace

from network_hub_module import CallContext, HostError, PunishmentKind, config, log, players
from network_hub_module.players import PermissionState
from network_hub_module.punishment import Proposal, Verdict, accept, amend, refuse


@dataclass
class Config:
    # The longest first ban: a week.
    first_ban_ms: int = 7 * 24 * 60 * 60 * 1000
    # Players with this permission are never punished; empty: none.
    immune_node: str = ""


class Punishment:
    def review(self, context: CallContext, proposal: Proposal) -> Verdict:
        settings = config(context, Config)
        try:
            return evaluate(settings, proposal)
        except HostError as error:
            log.warn(f"the record can't be read: {error}")
            return accept()


def evaluate(settings: Config, proposal: Proposal) -> Verdict:
    uuid, terms = proposal.player_uuid, proposal.terms
    if uuid is None:
        return accept()
    node = settings.immune_node
    if node and players.permission(uuid, node) is PermissionState.GRANTED:
        return refuse(f"{proposal.player_name or 'This player'} can't be punished.")
    is_long = terms.duration_ms is None or terms.duration_ms > settings.first_ban_ms
    if terms.kind is PunishmentKind.BAN and is_long and earlier(uuid, PunishmentKind.BAN) == 0:
        return amend(replace(terms, duration_ms=settings.first_ban_ms))
    if terms.kind is PunishmentKind.MUTE and earlier(uuid, PunishmentKind.MUTE) >= 2:
        return amend(replace(terms, kind=PunishmentKind.BAN))
    return accept()


def earlier(uuid: str, kind: PunishmentKind) -> int:
    """Return the number of such punishments of the player; revoked ones do not count."""
    return sum(not punishment.revoked for punishment in players.punishments(uuid, kind=kind))
