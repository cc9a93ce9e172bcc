// Generated from the hub's OpenAPI document by connectors/generate.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{StatisticPeriod, StatisticValue};
use crate::Amount;

/// What to add to a balance, or to take from it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BalanceModification {
    /// What to add, or to take if negative: at most 4 digits behind the point, up to 900 trillion in size.
    pub amount: Amount,
    pub currency: String,
    /// Refuse the change, whole, where it would leave the currency's bounds; otherwise it is cut to them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact: Option<bool>,
    /// For the ledger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A change of a balance, as part of a transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BalanceOperation {
    /// What to add, or to take if negative: at most 4 digits behind the point, up to 900 trillion in size.
    pub amount: Amount,
    pub currency: String,
    pub owner_key: String,
    pub owner_type: String,
}

/// Changes of balances that are made together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BalanceTransaction {
    /// Applied in this order: what a later one brings does not help an earlier one.
    pub operations: Vec<BalanceOperation>,
    /// For the ledger, with each of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A balance after a change.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ChangedBalance {
    /// What was added.
    pub applied: Amount,
    /// After the change.
    pub balance: Amount,
    pub currency_name: String,
    /// The id of the change's ledger entry.
    pub ledger_id: i64,
    pub owner_key: String,
    pub owner_type: String,
}

/// Who has most of a currency.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CurrencyLeaderboard {
    pub currency_name: String,
    pub entries: Vec<CurrencyRank>,
    pub owner_type: String,
}

/// A place on a currency's leaderboard.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CurrencyRank {
    pub owner_key: String,
    /// 1, 2, 3 …: nobody shares one.
    pub rank: i64,
    pub value: Amount,
}

/// A balance after a change.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModifiedBalance {
    /// What was added: less, where it was cut to the currency's bounds.
    pub applied: Amount,
    /// What was to be added.
    pub asked: Amount,
    /// After the change.
    pub balance: Amount,
    pub currency_name: String,
    /// The id of the change's ledger entry.
    pub ledger_id: i64,
}

/// An owner's statistics.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OwnerStatistics {
    pub game_mode: String,
    pub owner_key: String,
    pub owner_type: String,
    /// One per name and period.
    pub statistics: Vec<StatisticValue>,
}

/// Who has most of a statistic.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StatisticLeaderboard {
    pub entries: Vec<StatisticRank>,
    pub game_mode: String,
    pub owner_type: String,
    pub period: StatisticPeriod,
    pub statistic_name: String,
}

/// A place on a statistic's leaderboard.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StatisticRank {
    pub owner_key: String,
    /// 1, 2, 3 …: nobody shares one.
    pub rank: i64,
    pub value: f64,
}

/// A transaction that was made.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TransactionReceipt {
    /// The balances after each operation, in the order of the request.
    pub balances: Vec<ChangedBalance>,
    /// The ledger's entries name it.
    pub transaction_id: Uuid,
}
