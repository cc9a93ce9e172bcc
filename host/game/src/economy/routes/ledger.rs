//! The ledger, read by the network's owner.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::app::App;
use crate::auth::NetworkManage;
use crate::clock::Millis;
use crate::economy::amount::{Amount, Difference};
use crate::economy::model::LedgerRow;
use crate::economy::service;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::ApiError;
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{Limit, Page, PageNumber};
use crate::owner::Owner;
use crate::values::{Identifier, blank_as_absent};

pub(super) fn router() -> Endpoints {
    endpoints![read_ledger]
}

/// Change of a balance.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct LedgerEntry {
    /// Entry id; increases with every change of the owner's balance of that currency.
    #[schema(example = 1_804_680_000_000_000_i64)]
    id: i64,
    #[schema(example = "coins")]
    currency_name: String,
    /// Requested amount.
    asked: Amount,
    /// Only if the network's modules amended it: amount that was to be applied instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = 25)]
    amended: Option<Amount>,
    /// Amount applied within the bounds.
    applied: Difference,
    /// New balance.
    balance: Amount,
    #[schema(example = "quest reward")]
    reason: Option<String>,
    /// API key that made the change.
    #[schema(example = "I1vVxBO1Rap4")]
    key_id: String,
    #[schema(example = 1_804_680_000_000_i64)]
    at: Millis,
    /// Transaction of the change; null for a single change.
    transaction_id: Option<Uuid>,
}

impl From<LedgerRow> for LedgerEntry {
    fn from(row: LedgerRow) -> Self {
        Self {
            id: row.id,
            currency_name: row.currency,
            asked: row.asked,
            amended: row.amended,
            applied: Difference::between(row.balance_before, row.balance),
            balance: row.balance,
            reason: row.reason,
            key_id: row.key_id,
            at: row.at,
            transaction_id: row.transaction_id,
        }
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct LedgerQuery {
    #[serde(default)]
    #[param(inline, required = false)]
    limit: Limit,
    #[serde(default)]
    #[param(inline, required = false)]
    page: PageNumber,
    /// Only entries of this currency.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[param(value_type = Option<String>, example = "coins")]
    currency: Option<Identifier>,
}

/// Read an owner's ledger
///
/// All changes of the owner's balances, newest first.
#[utoipa::path(get, path = "/api/manage/economy/{ownerType}/{ownerKey}/ledger", tag = "Manage: economy",
    security(("apiKey" = ["network:manage"])),
    params(("ownerType" = Identifier, Path, example = "player"),
        ("ownerKey" = Identifier, Path, example = "069a79f4-44e9-4726-a5be-fca90e38aaf5"), LedgerQuery),
    responses((status = 200, body = Page<LedgerEntry>)))]
async fn read_ledger(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path(owner): Path<Owner>,
    Query(query): Query<LedgerQuery>,
) -> Result<Json<Page<LedgerEntry>>, ApiError> {
    let offset = query.page.offset(query.limit);
    let (entries, total) =
        service::list_ledger(&app, caller.network, &owner, query.currency.as_ref(), query.limit.0, offset).await?;
    Ok(Json(Page::new(entries, query.page, query.limit, total).map(LedgerEntry::from)))
}
