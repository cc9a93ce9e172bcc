//! The owner of the network defines currencies and looks into the books.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::NetworkManage;
use crate::clock::Millis;
use crate::economy::amount::{Amount, Difference};
use crate::economy::model::{Bounds, Currency, Entry};
use crate::economy::service;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::ApiError;
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{Limit, Page, PageNumber, PageQuery};
use crate::owner::Owner;
use crate::values::{Identifier, blank_as_absent};

pub(super) fn router() -> Endpoints {
    endpoints![list_currencies, define_currency, read_ledger]
}

/// A currency.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CurrencyDefinition {
    #[schema(example = "coins")]
    currency_name: String,
    /// Null: none.
    minimum: Option<Amount>,
    /// Null: none.
    maximum: Option<Amount>,
    /// Null: 0, or what is nearest to it inside the bounds.
    starting_balance: Option<Amount>,
}

impl From<Currency> for CurrencyDefinition {
    fn from(currency: Currency) -> Self {
        let Bounds { minimum, maximum, starting_balance } = currency.bounds;
        Self { currency_name: currency.name, minimum, maximum, starting_balance }
    }
}

/// List the currencies
///
/// By name: those that were defined and those that were used.
#[utoipa::path(get, path = "/api/manage/economy/currencies", tag = "Manage: economy",
    security(("apiKey" = ["network:manage"])), params(PageQuery),
    responses((status = 200, body = Page<CurrencyDefinition>)))]
async fn list_currencies(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<CurrencyDefinition>>, ApiError> {
    let offset = query.page.offset(query.limit);
    let (rows, total) = service::currencies(&app, caller.network, query.limit.0, offset).await?;
    Ok(Json(Page::new(rows, query.page, query.limit, total).map(CurrencyDefinition::from)))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DefineCurrency {
    /// No change leaves less; absent or null: none.
    #[schema(example = 0)]
    minimum: Option<Amount>,
    /// No change leaves more; absent or null: none.
    #[schema(example = 1_000_000)]
    maximum: Option<Amount>,
    /// What a new balance begins at; absent or null: 0, or what is nearest to it inside the bounds.
    #[schema(example = 100)]
    starting_balance: Option<Amount>,
}

/// Define a currency
///
/// Or define it anew. Balances stay as they are: one outside the new bounds is brought inside by its next change, and the
/// new starting balance is for those who have none yet.
#[utoipa::path(put, path = "/api/manage/economy/currencies/{name}", tag = "Manage: economy",
    security(("apiKey" = ["network:manage"])), params(("name" = Identifier, Path, example = "coins")),
    responses((status = 200, body = CurrencyDefinition)))]
async fn define_currency(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path(name): Path<Identifier>,
    Json(body): Json<DefineCurrency>,
) -> Result<Json<CurrencyDefinition>, ApiError> {
    let DefineCurrency { minimum, maximum, starting_balance } = body;
    let bounds = Bounds { minimum, maximum, starting_balance };
    service::define(&app, caller.network, &name, bounds).await?;
    Ok(Json(Currency { name: name.into_string(), bounds }.into()))
}

/// A change of a balance.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct LedgerEntry {
    /// Rises with every change of the owner's balance of that currency.
    #[schema(example = 1_804_680_000_000_000_i64)]
    id: i64,
    #[schema(example = "coins")]
    currency_name: String,
    /// What was to be added.
    asked: Amount,
    /// What was added inside the bounds.
    applied: Difference,
    /// The balance after it.
    balance: Amount,
    #[schema(example = "quest reward")]
    reason: Option<String>,
    /// The key it was done with.
    #[schema(example = "I1vVxBO1Rap4")]
    key_id: String,
    #[schema(example = 1_804_680_000_000_i64)]
    at: Millis,
}

impl From<Entry> for LedgerEntry {
    fn from(entry: Entry) -> Self {
        Self {
            id: entry.id,
            currency_name: entry.currency,
            asked: entry.asked,
            applied: Difference::between(entry.balance_before, entry.balance),
            balance: entry.balance,
            reason: entry.reason,
            key_id: entry.key_id,
            at: entry.at,
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
/// Every change of a balance, newest first.
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
        service::ledger(&app, caller.network, &owner, query.currency.as_ref(), query.limit.0, offset).await?;
    Ok(Json(Page::new(entries, query.page, query.limit, total).map(LedgerEntry::from)))
}
