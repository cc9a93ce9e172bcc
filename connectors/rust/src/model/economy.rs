// Generated from the hub's OpenAPI document by connectors/generate.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{StatisticPeriod, StatisticValue};
use crate::Amount;

/// Change of a balance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BalanceModification {
    /// Amount to add, or to subtract if negative: at most 4 decimal places, up to 900 trillion.
    pub amount: Amount,
    pub currency: String,
    /// Refuse the whole change if the balance would leave the currency's bounds; otherwise the change is cut to them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact: Option<bool>,
    /// Fence of the player's open session; any other is 409 `stale_session`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fence: Option<i64>,
    /// Reason for the ledger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Change of a balance, as part of a transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BalanceOperation {
    /// Amount to add, or to subtract if negative: at most 4 decimal places, up to 900 trillion.
    pub amount: Amount,
    pub currency: String,
    pub owner_key: String,
    pub owner_type: String,
}

/// Atomic changes of balances.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BalanceTransaction {
    /// Fence of the open session of the players among the owners, of whom there must be one; any other is 409
    /// `stale_session`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fence: Option<i64>,
    /// Operations, applied in this order: the result of a later one cannot enable an earlier one.
    pub operations: Vec<BalanceOperation>,
    /// Reason for the ledger entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Balance after a change.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ChangedBalance {
    /// Applied amount.
    pub applied: Amount,
    /// New balance.
    pub balance: Amount,
    pub currency_name: String,
    /// Id of the change's ledger entry.
    pub ledger_id: i64,
    pub owner_key: String,
    pub owner_type: String,
}

/// Owners with the highest balances of a currency.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CurrencyLeaderboard {
    pub currency_name: String,
    pub entries: Vec<CurrencyRank>,
    pub owner_type: String,
}

/// Entry of a currency's leaderboard.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CurrencyRank {
    pub owner_key: String,
    /// Rank 1, 2, 3 …, without ties.
    pub rank: i64,
    pub value: Amount,
}

/// Balance after a change.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModifiedBalance {
    /// Only if the network's modules amended it: amount that was to be applied instead.
    pub amended: Option<Amount>,
    /// Applied amount; smaller if it was cut to the currency's bounds.
    pub applied: Amount,
    /// Requested amount.
    pub asked: Amount,
    /// New balance.
    pub balance: Amount,
    pub currency_name: String,
    /// Id of the change's ledger entry.
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

/// Owners with the highest values of a statistic.
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

/// A rank in a statistic's leaderboard.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StatisticRank {
    pub owner_key: String,
    /// 1, 2, 3 …, never shared.
    pub rank: i64,
    pub value: f64,
}

/// A completed transaction.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TransactionReceipt {
    /// Balances after each operation, in the order of the request.
    pub balances: Vec<ChangedBalance>,
    /// Id in the ledger's entries.
    pub transaction_id: Uuid,
}
