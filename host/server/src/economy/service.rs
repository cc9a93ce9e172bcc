//! The rules of currencies.

use thiserror::Error;

use crate::app::App;
use crate::auth::KeyId;
use crate::economy::amount::Amount;
use crate::economy::model::{Balance, BalanceChange, Bounds, Currency, LedgerRow};
use crate::economy::store;
use crate::http::error::ApiError;
use crate::limits::{self, Limit, QuotaExceeded, check_rows};
use crate::owner::Owner;
use crate::values::{Identifier, NetworkId};

/// What can be wrong with a request about currencies.
#[derive(Debug, Error)]
pub(super) enum EconomyError {
    /// The bounds contradict each other.
    #[error("{0}")]
    Bounds(&'static str),
    /// More than the network may have.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<EconomyError> for ApiError {
    fn from(error: EconomyError) -> Self {
        match error {
            EconomyError::Bounds(message) => Self::invalid(message),
            EconomyError::Quota(exceeded) => exceeded.into(),
            EconomyError::Database(error) => error.into(),
        }
    }
}

/// Adds to a balance, cut to the currency's bounds; answers the new balance. The first change of a balance opens it, and
/// the first use of a currency creates it.
pub(super) async fn change_balance(
    app: &App,
    network: NetworkId,
    owner: &Owner,
    change: &BalanceChange,
    key: &KeyId,
) -> Result<Amount, EconomyError> {
    let now = app.clock.now();
    let is_there = store::is_open(&app.db, network, owner, &change.currency);
    check_rows::<EconomyError>(app, network, store::ALL_BALANCES, 1, is_there).await?;
    app.db
        .transaction(async |mut tx| {
            let tx = &mut tx;
            let at = app.logical_clock.next(now);
            let mut applied = store::apply_change(tx, network, owner, change, at).await?;
            if applied.is_none() {
                if !store::open_balance(tx, network, owner, &change.currency, at).await? {
                    store::create_currency(tx, network, &change.currency).await?;
                    // This one is among them.
                    let currencies = store::count_currencies(&mut *tx, network).await?;
                    limits::check(app, Limit::Currencies, currencies - 1, 1)?;
                    store::open_balance(tx, network, owner, &change.currency, at).await?;
                }
                applied = store::apply_change(tx, network, owner, change, at).await?;
            }
            let applied = applied.ok_or(hub_db::Error::NotFound)?;
            store::append_to_ledger(tx, network, owner, change, applied, key, now).await?;
            Ok(applied.balance)
        })
        .await
}

/// An owner's balances by currency: those they opened, and those of currencies with a starting balance.
pub(crate) async fn balances(app: &App, network: NetworkId, owner: &Owner) -> Result<Vec<Balance>, hub_db::Error> {
    store::balances(&app.db, network, owner).await
}

/// An owner's balance of a currency; none where there is no such currency.
pub(crate) async fn balance(
    app: &App,
    network: NetworkId,
    owner: &Owner,
    currency: &Identifier,
) -> Result<Option<Amount>, hub_db::Error> {
    store::balance(&app.db, network, owner, currency).await
}

/// The owners of a type with the highest balances of a currency, highest first.
pub(super) async fn leaderboard(
    app: &App,
    network: NetworkId,
    currency: &Identifier,
    owner_type: &str,
    limit: i64,
) -> Result<Vec<(String, Amount)>, EconomyError> {
    Ok(store::leaderboard(&app.db, network, currency, owner_type, limit).await?)
}

/// Defines or redefines a currency. Balances outside new bounds stay as they are until their next change.
pub(super) async fn define_currency(
    app: &App,
    network: NetworkId,
    name: &Identifier,
    bounds: Bounds,
) -> Result<(), EconomyError> {
    bounds.check().map_err(EconomyError::Bounds)?;
    if !store::has_currency(&app.db, network, name).await? {
        let currencies = store::count_currencies(&app.db, network).await?;
        limits::check(app, Limit::Currencies, currencies, 1)?;
    }
    Ok(store::define_currency(&app.db, network, name, bounds).await?)
}

/// One page of the network's currencies by name, and how many there are.
pub(super) async fn list_currencies(
    app: &App,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Currency>, i64), EconomyError> {
    Ok(store::list_currencies(&app.db, network, limit, offset).await?)
}

/// One page of an owner's ledger, of one currency or of all, newest first, and how many entries there are.
pub(super) async fn list_ledger(
    app: &App,
    network: NetworkId,
    owner: &Owner,
    currency: Option<&Identifier>,
    limit: i64,
    offset: i64,
) -> Result<(Vec<LedgerRow>, i64), EconomyError> {
    Ok(store::list_ledger(&app.db, network, owner, currency, limit, offset).await?)
}
