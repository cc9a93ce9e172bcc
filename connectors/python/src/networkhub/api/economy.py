"""Money, and the statistics of owners that are no players."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID

from .. import _json
from .._call import Api, Call, TransportT, keyed, listed, model, operation, path, query
from ..models import (
    BalanceOperation,
    CurrencyBalance,
    CurrencyLeaderboard,
    IncrementedStatistic,
    ModifiedBalance,
    OwnerStatistics,
    StatisticLeaderboard,
    StatisticPeriod,
    TransactionReceipt,
)


class EconomyApi(Api[TransportT]):
    """Money, and the statistics of owners that are no players.

    Do not read a balance to decide whether to take from it: two servers would both sell. `spend` and `transact` decide and take
    in one step. Amounts are `Decimal` or `int`; a float is refused with `TypeError`.
    """

    @operation
    def balances(self, owner_type: str, owner_key: str) -> Call[list[CurrencyBalance]]:
        """All balances of an owner."""
        return Call("GET", path("economy", owner_type, owner_key, "currencies"), listed(CurrencyBalance))

    @operation
    def modify(
        self,
        owner_type: str,
        owner_key: str,
        currency: str,
        amount: Decimal | int,
        reason: str | None = None,
        *,
        exact: bool = False,
    ) -> Call[ModifiedBalance]:
        """Adds to a balance, or takes from it. What is beyond the currency's bounds is cut off: `applied` has the actual change.

        With `exact` all or nothing: fails with `insufficient_funds` or `over_maximum`, and then nothing has changed.
        """
        return _modify(owner_type, owner_key, currency, amount, reason, exact)

    @operation
    def spend(self, player: UUID, currency: str, price: Decimal | int, reason: str | None = None) -> Call[ModifiedBalance]:
        """Takes money from a player for a purchase, or fails with `insufficient_funds`."""
        return _modify("player", str(player), currency, -_exact(price), reason, exact=True)

    @operation
    def transact(self, operations: Sequence[BalanceOperation], reason: str | None = None) -> Call[TransactionReceipt]:
        """Applies 1 to 16 changes, all or none.

        Fails with `insufficient_funds` or `over_maximum`; the error's `details["operation"]` is the index of the first change
        that was not possible.
        """
        return _transact(operations, reason)

    @operation
    def pay(
        self, sender: UUID, receiver: UUID, currency: str, amount: Decimal | int, reason: str | None = None
    ) -> Call[TransactionReceipt]:
        """Moves money from one player to another, or fails with `insufficient_funds`."""
        take, give = _of_player(sender, currency, -_exact(amount)), _of_player(receiver, currency, amount)
        return _transact([take, give], reason)

    @operation
    def currency_leaderboard(self, currency: str, *, owner_type: str | None = None, limit: int = 10) -> Call[CurrencyLeaderboard]:
        """The owners of a type who have most of a currency; None is `player`."""
        parameters = query(currency=currency, owner_type=owner_type, limit=limit)
        return Call("GET", path("economy", "currencies", "leaderboard"), model(CurrencyLeaderboard), parameters)

    @operation
    def statistic_leaderboard(
        self,
        name: str,
        *,
        game_mode: str | None = None,
        period: StatisticPeriod | None = None,
        owner_type: str | None = None,
        limit: int = 10,
    ) -> Call[StatisticLeaderboard]:
        """The owners of a type with the highest values of a statistic. None is `global`, LIFETIME and `player`."""
        parameters = query(name=name, game_mode=game_mode, period=period, owner_type=owner_type, limit=limit)
        return Call("GET", path("economy", "leaderboard"), model(StatisticLeaderboard), parameters)

    @operation
    def statistics(self, owner_type: str, owner_key: str, game_mode: str | None = None) -> Call[OwnerStatistics]:
        """An owner's statistics; None is the game mode `global`."""
        target = path("economy", owner_type, owner_key, "statistics")
        return Call("GET", target, model(OwnerStatistics), query(game_mode=game_mode))

    @operation
    def increment(
        self, owner_type: str, owner_key: str, name: str, amount: float = 1, game_mode: str | None = None
    ) -> Call[IncrementedStatistic]:
        """Adds to an owner's statistic; None is the game mode `global`."""
        body = _json.present(name=name, game_mode=game_mode, amount=amount)
        target = path("economy", owner_type, owner_key, "statistics", "increment")
        return Call("POST", target, model(IncrementedStatistic), body=body, **keyed())


def _of_player(player: UUID, currency: str, amount: Decimal | int) -> BalanceOperation:
    return BalanceOperation(owner_type="player", owner_key=str(player), currency=currency, amount=amount)


def _exact(amount: Decimal | int) -> Decimal | int:
    if not isinstance(amount, (Decimal, int)):
        raise TypeError(f"an amount of money is a Decimal or an int, not {type(amount).__name__}")
    return amount


def _modify(
    owner_type: str, owner_key: str, currency: str, amount: Decimal | int, reason: str | None, exact: bool
) -> Call[ModifiedBalance]:
    body = _json.present(currency=currency, amount=_exact(amount), reason=reason, exact=exact or None)
    target = path("economy", owner_type, owner_key, "currencies", "modify")
    return Call("POST", target, model(ModifiedBalance), body=body, **keyed())


def _transact(operations: Sequence[BalanceOperation], reason: str | None) -> Call[TransactionReceipt]:
    for change in operations:
        _exact(change.amount)
    body = _json.present(operations=operations, reason=reason)
    return Call("POST", path("economy", "transactions"), model(TransactionReceipt), body=body, **keyed())
