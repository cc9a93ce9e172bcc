"""Bonus: players earn more of one currency, and nobody spends too much of it at once."""

from dataclasses import dataclass

from network_hub_module import CallContext, config, log
from network_hub_module.economy import Change, Decision, accept, amend, refuse


@dataclass
class Config:
    # The currency; changes of others are left as they are.
    currency: str = "coins"
    # Extra that players earn, in percent.
    bonus_percent: int = 50
    # The most that one operation may take, in whole units; 0: no limit.
    most_spent: int = 0


class Economy:
    def review(self, context: CallContext, change: Change) -> Decision:
        settings = config(context, Config)
        currency, most = settings.currency, settings.most_spent
        if most > 0 and any(it.currency == currency and it.amount < -most for it in change.operations):
            return refuse(f"At most {most} {currency} at once.")
        earned = change.single()
        if earned is None or earned.currency != currency or earned.owner_type != "player":
            return accept()
        if earned.amount <= 0 or settings.bonus_percent == 0:
            return accept()
        log.info(f"{earned.owner_key} earns a bonus")
        return amend(earned.amount + earned.amount * settings.bonus_percent / 100)
