"""Money and statistics. Amounts are exact decimals with at most 4 digits behind the point."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal
from uuid import UUID

Period = Literal["DAILY", "WEEKLY", "MONTHLY", "LIFETIME"]
"""What a statistic is counted over, in UTC; weeks begin on Monday."""


@dataclass(frozen=True, slots=True)
class Balance:
    """What an owner has of a currency."""

    currency_name: str
    balance: Decimal


@dataclass(frozen=True, slots=True)
class ModifiedBalance:
    """A balance after a change."""

    currency_name: str
    balance: Decimal
    asked: Decimal
    applied: Decimal
    """The change that was made; less than asked where it was cut at the currency's bounds."""
    ledger_id: int
    """The change's row in the ledger."""


@dataclass(frozen=True, slots=True)
class MoneyOperation:
    """One change of a transaction."""

    owner_type: str
    """The kind of owner, such as `player`."""
    owner_key: str
    """Which one; a player's UUID."""
    currency: str
    amount: Decimal | int
    """Negative takes, positive gives."""


@dataclass(frozen=True, slots=True)
class TransactionBalance:
    """A balance after one operation of a transaction."""

    owner_type: str
    owner_key: str
    currency_name: str
    balance: Decimal
    applied: Decimal
    ledger_id: int


@dataclass(frozen=True, slots=True)
class MoneyTransaction:
    """A transaction that was applied whole."""

    transaction_id: str
    balances: list[TransactionBalance]
    """In the order of the operations."""


@dataclass(frozen=True, slots=True)
class CurrencyRank:
    """A place in a currency's leaderboard."""

    rank: int
    owner_key: str
    value: Decimal


@dataclass(frozen=True, slots=True)
class CurrencyLeaderboard:
    """The owners who have most of a currency, highest first."""

    owner_type: str
    currency_name: str
    entries: list[CurrencyRank]


@dataclass(frozen=True, slots=True)
class StatisticRank:
    """A place in a statistic's leaderboard."""

    rank: int
    owner_key: str
    value: float


@dataclass(frozen=True, slots=True)
class StatisticLeaderboard:
    """The owners with the highest values of a statistic, highest first."""

    owner_type: str
    statistic_name: str
    game_mode: str
    period: Period
    entries: list[StatisticRank]


@dataclass(frozen=True, slots=True)
class StatisticValue:
    """A statistic in one period."""

    statistic_name: str
    game_mode: str
    period_type: Period
    period_start: str
    """The period's first day in UTC, as `2027-03-11`; `1970-01-01` for LIFETIME."""
    value: float
    updated_at: int


@dataclass(frozen=True, slots=True)
class OwnerStatistics:
    """An owner's statistics in a game mode, one for each name and period."""

    owner_type: str
    owner_key: str
    game_mode: str
    statistics: list[StatisticValue]


@dataclass(frozen=True, slots=True)
class PlayerStatistics:
    """A player's statistics in a game mode, one for each name and period."""

    player_uuid: UUID
    game_mode: str
    statistics: list[StatisticValue]


@dataclass(frozen=True, slots=True)
class IncrementedStatistic:
    """What an increment brought a statistic to."""

    statistic_name: str
    game_mode: str
    new_values: dict[str, float]
    """By period."""
