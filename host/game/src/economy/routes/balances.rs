//! Owners' balances and the leaderboards.

use axum::extract::State;
use axum::http::Uri;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::EconomyWrite;
use crate::economy::amount::{Amount, Difference};
use crate::economy::model::{Balance, BalanceChange, LedgerNote};
use crate::economy::review::review_one;
use crate::economy::{Leaderboards, service};
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::json::WrittenJson;
use crate::http::page::LeaderboardLimit;
use crate::owner::{self, Owner};
use crate::values::{Identifier, Text, blank_as_absent};

pub(super) fn router() -> Endpoints {
    endpoints![currency_leaderboard, list_balances, modify_balance: transactional]
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
struct LeaderboardQuery {
    /// Currency name.
    #[param(value_type = String, example = "coins")]
    currency: Identifier,
    #[serde(default)]
    #[param(inline, required = false)]
    limit: LeaderboardLimit,
    /// Type of owner; players if absent.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[param(value_type = Option<String>, example = "player")]
    owner_type: Option<Identifier>,
}

/// Entry of a currency's leaderboard.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CurrencyRank {
    /// Rank 1, 2, 3 …, without ties.
    #[schema(example = 1)]
    rank: i64,
    #[schema(example = "069a79f4-44e9-4726-a5be-fca90e38aaf5")]
    owner_key: String,
    value: Amount,
}

/// Owners with the highest balances of a currency.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CurrencyLeaderboard {
    #[schema(example = "player")]
    owner_type: String,
    #[schema(example = "coins")]
    currency_name: Identifier,
    entries: Vec<CurrencyRank>,
}

/// Rank the owners by a currency
///
/// Highest balance first; equal balances are ordered by the time they were reached, then by the owner's key. Owners
/// who never had any of the currency are not listed, even if there is a starting balance.
#[utoipa::path(get, path = "/api/plugin/economy/currencies/leaderboard", tag = "Economy", operation_id = "get_currency_leaderboard",
    security(("apiKey" = ["economy:write", "plugin"])), params(LeaderboardQuery), responses((status = 200, body = CurrencyLeaderboard)))]
async fn currency_leaderboard(
    EconomyWrite(caller): EconomyWrite,
    State(app): State<App>,
    asked_for: Uri,
    Query(query): Query<LeaderboardQuery>,
) -> Result<WrittenJson, ApiError> {
    let read = async {
        let owner_type = query.owner_type.map_or_else(|| owner::PLAYER.to_owned(), Identifier::into_string);
        let owners = service::leaderboard(&app, caller.network, &query.currency, &owner_type, query.limit.0).await?;
        let ranked = (1..).zip(owners).map(|(rank, (owner_key, value))| CurrencyRank { rank, owner_key, value });
        let entries = ranked.collect();
        WrittenJson::new(&CurrencyLeaderboard { owner_type, currency_name: query.currency, entries })
    };
    app.state::<Leaderboards>().0.read((caller.network, asked_for.to_string()), read).await
}

/// List an owner's balances
///
/// Ordered by currency: balances that the owner ever had, and starting balances of other currencies.
#[utoipa::path(get, path = "/api/plugin/economy/{ownerType}/{ownerKey}/currencies", tag = "Economy",
    security(("apiKey" = ["economy:write", "plugin"])),
    params(("ownerType" = Identifier, Path, example = "player"),
        ("ownerKey" = Identifier, Path, example = "069a79f4-44e9-4726-a5be-fca90e38aaf5")),
    responses((status = 200, body = Vec<Balance>)))]
async fn list_balances(
    EconomyWrite(caller): EconomyWrite,
    State(app): State<App>,
    Path(owner): Path<Owner>,
) -> Result<Json<Vec<Balance>>, ApiError> {
    Ok(Json(service::balances(&app, caller.network, &owner).await?))
}

/// Change of a balance.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BalanceModification)]
struct ModifyBalance {
    #[schema(example = "coins")]
    currency: Identifier,
    /// Amount to add, or to subtract if negative: at most 4 decimal places, up to 900 trillion.
    amount: Amount,
    /// Reason for the ledger.
    #[schema(example = "quest reward")]
    reason: Option<Text<1024>>,
    /// Refuse the whole change if the balance would leave the currency's bounds; otherwise the change is cut to them.
    #[serde(default)]
    #[schema(required = false, default = false, example = true)]
    exact: bool,
    /// Fence of the player's open session; any other is 409 `stale_session`.
    #[schema(example = 42)]
    fence: Option<i64>,
}

/// Balance after a change.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ModifiedBalance {
    #[schema(example = "coins")]
    currency_name: String,
    /// New balance.
    balance: Amount,
    /// Requested amount.
    asked: Amount,
    /// Only if the network's modules amended it: amount that was to be applied instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = 25)]
    amended: Option<Amount>,
    /// Applied amount; smaller if it was cut to the currency's bounds.
    applied: Difference,
    /// Id of the change's ledger entry.
    #[schema(example = 1_804_680_000_000_000_i64)]
    ledger_id: i64,
}

/// Change a balance
///
/// Atomic: concurrent changes are not lost. A change beyond the currency's bounds is cut to them, and the ledger
/// stores both the requested and the applied amount. With `exact` such a change is refused: 400 `insufficient_funds`
/// or `over_maximum`, without effect. An undefined currency is created with minimum 0 and no maximum.
///
/// The network's modules may amend the amount, which then counts as the requested one for bounds and `exact`, or refuse the
/// change (400 `change_rejected` with their reason).
#[utoipa::path(post, path = "/api/plugin/economy/{ownerType}/{ownerKey}/currencies/modify", tag = "Economy",
    security(("apiKey" = ["economy:write", "plugin"])),
    params(("ownerType" = Identifier, Path, example = "player"),
        ("ownerKey" = Identifier, Path, example = "069a79f4-44e9-4726-a5be-fca90e38aaf5")),
    responses((status = 200, body = ModifiedBalance),
        (status = 409, body = ErrorBody, description = "The session is over")))]
async fn modify_balance(
    EconomyWrite(caller): EconomyWrite,
    State(app): State<App>,
    Path(owner): Path<Owner>,
    Json(body): Json<ModifyBalance>,
) -> Result<Json<ModifiedBalance>, ApiError> {
    let ModifyBalance { currency, amount, reason, exact, fence } = body;
    let mut change = BalanceChange { owner, currency, amount };
    let (reason, key) = (reason.map(Text::into_string), caller.key.clone());
    let mut note = LedgerNote { reason, key, transaction: None, asked: None };
    let owner = change.owner.clone();
    let fenced = service::fenced(fence, std::iter::once(&owner), &caller)?;
    review_one(&app, &caller, &mut change, &mut note).await?;
    let made = service::change_balance(&app, caller.network, &change, exact, &note, &fenced).await?;
    Ok(Json(ModifiedBalance {
        currency_name: change.currency.into_string(),
        balance: made.balance,
        asked: amount,
        amended: note.asked.map(|_| change.amount),
        applied: made.applied(),
        ledger_id: made.ledger_id,
    }))
}
