//! The rules of currencies.

use thiserror::Error;

use crate::app::App;
use crate::auth::KeyId;
use crate::economy::amount::Amount;
use crate::economy::model::{Balance, Bounds, Change, Currency, Entry};
use crate::economy::store;
use crate::http::error::ApiError;
use crate::owner::Owner;
use crate::values::{Identifier, NetworkId};

/// What can be wrong with a request about currencies.
#[derive(Debug, Error)]
pub(super) enum EconomyError {
    /// The bounds contradict each other.
    #[error("{0}")]
    Bounds(&'static str),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<EconomyError> for ApiError {
    fn from(error: EconomyError) -> Self {
        match error {
            EconomyError::Bounds(message) => Self::invalid(message),
            EconomyError::Database(error) => error.into(),
        }
    }
}

/// Adds to a balance what can be added inside the currency's bounds; the balance after it. The first change of a
/// balance begins it, and the first use of a currency makes it.
pub(super) async fn modify(
    app: &App,
    network: NetworkId,
    owner: &Owner,
    change: &Change,
    key: &KeyId,
) -> Result<Amount, EconomyError> {
    let now = app.clock.now();
    app.db
        .transaction(async |mut tx| {
            let tx = &mut tx;
            let moment = app.logical_clock.next(now);
            let mut changed = store::change(tx, network, owner, change, moment).await?;
            if changed.is_none() {
                if !store::begin(tx, network, owner, &change.currency, moment).await? {
                    store::make(tx, network, &change.currency, &Bounds::of_first_use()).await?;
                    store::begin(tx, network, owner, &change.currency, moment).await?;
                }
                changed = store::change(tx, network, owner, change, moment).await?;
            }
            let changed = changed.ok_or(hub_db::Error::NotFound)?;
            store::log(tx, network, owner, change, changed, key, now).await?;
            Ok(changed.balance)
        })
        .await
}

/// What an owner has of each currency, by name: those they ever had, and those that everybody begins with.
pub(crate) async fn balances(app: &App, network: NetworkId, owner: &Owner) -> Result<Vec<Balance>, hub_db::Error> {
    store::balances(&app.db, network, owner).await
}

/// What an owner has of a currency; none where there is no such currency.
pub(crate) async fn balance(
    app: &App,
    network: NetworkId,
    owner: &Owner,
    currency: &Identifier,
) -> Result<Option<Amount>, hub_db::Error> {
    store::balance(&app.db, network, owner, currency).await
}

/// The owners of a type who have most of a currency, most first.
pub(super) async fn top(
    app: &App,
    network: NetworkId,
    currency: &Identifier,
    owner_type: &str,
    limit: i64,
) -> Result<Vec<(String, Amount)>, EconomyError> {
    Ok(store::top(&app.db, network, currency, owner_type, limit).await?)
}

/// Defines a currency. Balances outside new bounds stay as they are until their next change.
pub(super) async fn define(
    app: &App,
    network: NetworkId,
    name: &Identifier,
    bounds: Bounds,
) -> Result<(), EconomyError> {
    bounds.check().map_err(EconomyError::Bounds)?;
    Ok(store::define(&app.db, network, name, &bounds).await?)
}

/// One page of the network's currencies by name, and how many there are.
pub(super) async fn currencies(
    app: &App,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Currency>, i64), EconomyError> {
    Ok(store::currencies(&app.db, network, limit, offset).await?)
}

/// One page of an owner's entries, of one currency or of all, newest first, and how many there are.
pub(super) async fn ledger(
    app: &App,
    network: NetworkId,
    owner: &Owner,
    currency: Option<&Identifier>,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Entry>, i64), EconomyError> {
    Ok(store::ledger(&app.db, network, owner, currency, limit, offset).await?)
}
