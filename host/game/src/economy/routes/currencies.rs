//! Currencies of a network, defined by its owner.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::NetworkManage;
use crate::economy::amount::Amount;
use crate::economy::model::{Bounds, Currency};
use crate::economy::service;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::if_match::{IF_MATCH_DESCRIPTION, IfMatch, revision_of};
use crate::http::page::{Page, PageQuery};
use crate::values::Identifier;

pub(super) fn router() -> Endpoints {
    endpoints![list_currencies, define_currency]
}

/// Definition of a currency.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CurrencyDefinition {
    #[schema(example = "coins")]
    currency_name: String,
    /// Minimum balance; null: none.
    minimum: Option<Amount>,
    /// Maximum balance; null: none.
    maximum: Option<Amount>,
    /// Initial balance; null: 0, or the nearest value inside the bounds.
    starting_balance: Option<Amount>,
    /// Changes with the definition, for `If-Match`.
    #[schema(example = 4_503_599_627_370_i64)]
    revision: i64,
}

impl From<Currency> for CurrencyDefinition {
    fn from(currency: Currency) -> Self {
        let Bounds { minimum, maximum, starting_balance } = currency.bounds;
        let revision = revision_of(&service::shown(&currency.bounds));
        Self { currency_name: currency.name, minimum, maximum, starting_balance, revision }
    }
}

/// List the currencies
///
/// Defined and used currencies, ordered by name.
#[utoipa::path(get, path = "/api/manage/economy/currencies", tag = "Manage: economy",
    security(("apiKey" = ["network:manage"])), params(PageQuery),
    responses((status = 200, body = Page<CurrencyDefinition>)))]
async fn list_currencies(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<CurrencyDefinition>>, ApiError> {
    let offset = query.page.offset(query.limit);
    let (rows, total) = service::list_currencies(&app, caller.network, query.limit.0, offset).await?;
    Ok(Json(Page::new(rows, query.page, query.limit, total).map(CurrencyDefinition::from)))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CurrencyBounds)]
struct DefineCurrency {
    /// Minimum balance after changes; absent or null: none.
    #[schema(example = 0)]
    minimum: Option<Amount>,
    /// Maximum balance after changes; absent or null: none.
    #[schema(example = 1_000_000)]
    maximum: Option<Amount>,
    /// Initial balance; absent or null: 0, or the nearest value inside the bounds.
    #[schema(example = 100)]
    starting_balance: Option<Amount>,
}

/// Define a currency
///
/// Defines or redefines a currency. Existing balances stay: a balance outside the new bounds is moved inside by its
/// next change, and the new starting balance applies to owners without a balance.
///
/// With `If-Match` only at that `revision`, 0 if there is to be none: else it is 409 `revision_changed`.
#[utoipa::path(put, path = "/api/manage/economy/currencies/{name}", tag = "Manage: economy",
    security(("apiKey" = ["network:manage"])), params(("name" = Identifier, Path, example = "coins"),
        ("If-Match" = Option<String>, Header, description = IF_MATCH_DESCRIPTION)),
    responses((status = 200, body = CurrencyDefinition),
        (status = 409, body = ErrorBody, description = "Somebody changed it since the revision of `If-Match`")))]
async fn define_currency(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path(name): Path<Identifier>,
    expected: IfMatch,
    Json(body): Json<DefineCurrency>,
) -> Result<Json<CurrencyDefinition>, ApiError> {
    let DefineCurrency { minimum, maximum, starting_balance } = body;
    let bounds = Bounds { minimum, maximum, starting_balance };
    service::define_currency(&app, caller.network, &caller.origin(&app), &name, (bounds, expected)).await?;
    Ok(Json(Currency { name: name.into_string(), bounds }.into()))
}
