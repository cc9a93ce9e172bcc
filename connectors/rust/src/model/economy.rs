//! Money and statistics.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Amount;

/// What an owner has of a currency.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Balance {
    /// The currency.
    pub currency_name: String,
    /// Exact.
    pub balance: Amount,
}

/// A balance after a change.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModifiedBalance {
    /// The currency.
    pub currency_name: String,
    /// What the owner has now.
    pub balance: Amount,
    /// The change that was asked for.
    pub asked: Option<Amount>,
    /// The change that was made: less where a bound of the currency cut it off.
    pub applied: Option<Amount>,
    /// The change's row in the ledger.
    pub ledger_id: Option<i64>,
}

/// One change of a transaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BalanceOperation {
    /// The kind of owner, such as `player`.
    pub owner_type: String,
    /// Which one; a player's UUID.
    pub owner_key: String,
    /// The currency.
    pub currency: String,
    /// Below 0 to take.
    pub amount: Amount,
}

impl BalanceOperation {
    /// A change of a player's balance, below 0 to take.
    pub fn of_player(player: Uuid, currency: &str, amount: Amount) -> Self {
        let (owner_type, owner_key) = ("player".to_owned(), player.to_string());
        Self { owner_type, owner_key, currency: currency.to_owned(), amount }
    }
}

/// A transaction that was made.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TransactionReceipt {
    /// Names it in the ledger.
    pub transaction_id: Uuid,
    /// In the order of the operations.
    pub balances: Vec<ChangedBalance>,
}

/// A balance after one operation of a transaction.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ChangedBalance {
    /// The kind of owner.
    pub owner_type: String,
    /// Which one.
    pub owner_key: String,
    /// The currency.
    pub currency_name: String,
    /// What the owner has now.
    pub balance: Amount,
    /// The change.
    pub applied: Amount,
    /// The change's row in the ledger.
    pub ledger_id: i64,
}

/// The owners who have most of a currency.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CurrencyLeaderboard {
    /// The kind of owner.
    pub owner_type: String,
    /// The currency.
    pub currency_name: String,
    /// Highest first.
    pub entries: Vec<CurrencyRank>,
}

/// A place in a currency's leaderboard.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CurrencyRank {
    /// 1, 2, 3 …
    pub rank: u32,
    /// The owner.
    pub owner_key: String,
    /// The balance.
    pub value: Amount,
}

/// What a statistic is counted over, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Period {
    /// A day.
    Daily,
    /// A week from Monday.
    Weekly,
    /// A calendar month.
    Monthly,
    /// All time.
    Lifetime,
}

impl Period {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Daily => "DAILY",
            Self::Weekly => "WEEKLY",
            Self::Monthly => "MONTHLY",
            Self::Lifetime => "LIFETIME",
        }
    }
}

/// A statistic in one period.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StatisticValue {
    /// The statistic.
    pub statistic_name: String,
    /// The game mode.
    pub game_mode: String,
    /// The kind of period.
    pub period_type: Period,
    /// Its first day in UTC, as `2027-03-11`; `1970-01-01` for the lifetime.
    pub period_start: String,
    /// The value.
    pub value: f64,
    /// When it changed last.
    pub updated_at: i64,
}

/// A statistic after a change.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct IncrementedStatistic {
    /// The statistic.
    pub statistic_name: String,
    /// The game mode.
    pub game_mode: String,
    /// By period.
    pub new_values: HashMap<Period, f64>,
}

/// The owners with the highest values of a statistic.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StatisticLeaderboard {
    /// The kind of owner.
    pub owner_type: String,
    /// The statistic.
    pub statistic_name: String,
    /// The game mode.
    pub game_mode: String,
    /// The kind of period.
    pub period: Period,
    /// Highest first.
    pub entries: Vec<StatisticRank>,
}

/// A place in a statistic's leaderboard.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StatisticRank {
    /// 1, 2, 3 …
    pub rank: u32,
    /// The owner.
    pub owner_key: String,
    /// The value.
    pub value: f64,
}
