//! Atomic changes of several balances.

use axum::extract::State;
use serde::{Deserialize, Deserializer, Serialize, de};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::app::App;
use crate::auth::EconomyWrite;
use crate::economy::amount::Amount;
use crate::economy::model::{BalanceChange, ChangedBalance, LedgerNote};
use crate::economy::review::review_all;
use crate::economy::service;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::Json;
use crate::owner::Owner;
use crate::values::{Identifier, Text};

/// Maximum number of operations per transaction.
const MAX_OPERATIONS: usize = 16;

pub(super) fn router() -> Endpoints {
    endpoints![make_transaction: transactional]
}

/// Change of a balance, as part of a transaction.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct BalanceOperation {
    #[schema(example = "player")]
    owner_type: Identifier,
    #[schema(example = "069a79f4-44e9-4726-a5be-fca90e38aaf5")]
    owner_key: Identifier,
    #[schema(example = "coins")]
    currency: Identifier,
    /// Amount to add, or to subtract if negative: at most 4 decimal places, up to 900 trillion.
    amount: Amount,
}

/// Atomic changes of balances.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct BalanceTransaction {
    /// Operations, applied in this order: the result of a later one cannot enable an earlier one.
    #[serde(deserialize_with = "changes")]
    #[schema(value_type = Vec<BalanceOperation>, min_items = 1, max_items = 16, example = json!([
        {"ownerType": "player", "ownerKey": "069a79f4-44e9-4726-a5be-fca90e38aaf5", "currency": "coins", "amount": 50},
        {"ownerType": "shop", "ownerKey": "spawn", "currency": "coins", "amount": 12.5}]))]
    operations: Vec<BalanceChange>,
    /// Reason for the ledger entries.
    #[schema(example = "quest reward")]
    reason: Option<Text<1024>>,
    /// Fence of the open session of the players among the owners, of whom there must be one; any other is 409
    /// `stale_session`.
    #[schema(example = 42)]
    fence: Option<i64>,
}

fn changes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<BalanceChange>, D::Error> {
    let operations = Vec::<BalanceOperation>::deserialize(deserializer)?;
    if !(1..=MAX_OPERATIONS).contains(&operations.len()) {
        return Err(de::Error::custom(format_args!("must be 1 to {MAX_OPERATIONS} operations")));
    }
    let change = |operation: BalanceOperation| {
        let BalanceOperation { owner_type, owner_key, currency, amount } = operation;
        Ok(BalanceChange { owner: Owner::new(owner_type, owner_key)?, currency, amount })
    };
    operations.into_iter().map(change).collect::<Result<_, String>>().map_err(de::Error::custom)
}

/// A completed transaction.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TransactionReceipt {
    /// Id in the ledger's entries.
    transaction_id: Uuid,
    /// Balances after each operation, in the order of the request.
    balances: Vec<ChangedBalance>,
}

/// Change balances together
///
/// All operations are applied exactly, or none: a payment takes from one owner the amount it gives to another. If one
/// is impossible, nothing changes: 400 `insufficient_funds` or `over_maximum`, with `operation`, the index of the
/// first failed operation. The network's modules may refuse it: 400 `change_rejected` with their reason. Send an
/// `Idempotency-Key`, so that a retry does not pay twice.
#[utoipa::path(post, path = "/api/plugin/economy/transactions", tag = "Economy",
    security(("apiKey" = ["economy:write", "plugin"])), responses((status = 200, body = TransactionReceipt),
        (status = 409, body = ErrorBody, description = "The session is over")))]
async fn make_transaction(
    EconomyWrite(caller): EconomyWrite,
    State(app): State<App>,
    Json(body): Json<BalanceTransaction>,
) -> Result<Json<TransactionReceipt>, ApiError> {
    let BalanceTransaction { operations, reason, fence } = body;
    let fenced = service::fenced(fence, operations.iter().map(|change| &change.owner), &caller)?;
    let transaction_id = app.ids.uuid();
    let reason = reason.map(Text::into_string);
    let note = LedgerNote { reason, key: caller.key.clone(), transaction: Some(transaction_id), asked: None };
    review_all(&app, &caller, &operations, &note).await?;
    let made = service::change_balances(&app, caller.network, &operations, &note, &fenced).await?;
    let balances = operations.iter().zip(made).map(|(change, made)| ChangedBalance::new(change, made)).collect();
    Ok(Json(TransactionReceipt { transaction_id, balances }))
}
