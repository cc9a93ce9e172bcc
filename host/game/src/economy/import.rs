//! Import of balances from another tool.
//!
//! The first import of a balance sets it to the other tool's value. A later one adds the difference to the previously
//! imported value, so that changes made in between are kept.

use std::future::ready;

use hub_db::Tx;

use crate::app::App;
use crate::auth::KeyId;
use crate::economy::amount::Amount;
use crate::economy::model::{BalanceChange, Bounds, LedgerNote};
use crate::economy::service::{self, EconomyError};
use crate::economy::store;
use crate::import_outcome::ImportOutcome;
use crate::limits::check_rows;
use crate::owner::Owner;
use crate::values::{Identifier, NetworkId, PlayerId};

/// Balance from another tool.
#[derive(Clone, Copy, Debug)]
pub struct BalanceImport<'a> {
    pub player: PlayerId,
    pub currency: &'a Identifier,
    pub amount: Amount,
    /// Previously imported value, in ten-thousandths.
    pub imported_before: Option<i64>,
}

/// Planned change of a balance.
#[derive(Clone, Copy, Debug)]
pub enum PlannedBalance {
    /// The amount is added.
    Add { amount: Amount, outcome: ImportOutcome, is_new: bool },
    /// The result is outside the currency's bounds.
    OutOfBounds,
}

/// Plans the import of a balance.
pub async fn plan_balance(
    app: &App,
    network: NetworkId,
    import: BalanceImport<'_>,
) -> Result<PlannedBalance, hub_db::Error> {
    let BalanceImport { player, currency, amount, imported_before } = import;
    let owner = Owner::player(player);
    let bounds = store::bounds(&app.db, network, currency).await?.unwrap_or_else(Bounds::undefined);
    let is_open = store::is_open(&app.db, network, &owner, currency).await?;
    let current = store::balance(&app.db, network, &owner, currency).await?.unwrap_or_else(|| bounds.opening_balance());
    let difference = match imported_before {
        Some(before) => amount.ten_thousandths().saturating_sub(before),
        None => amount.ten_thousandths().saturating_sub(current.ten_thousandths()),
    };
    let target = current.ten_thousandths().saturating_add(difference);
    let target = Amount::of_ten_thousandths(target).filter(|target| bounds.clamp(*target) == *target);
    let (Some(_), Some(difference)) = (target, Amount::of_ten_thousandths(difference)) else {
        return Ok(PlannedBalance::OutOfBounds);
    };
    let is_new = !is_open;
    let was_there = is_open || imported_before.is_some();
    let outcome = ImportOutcome::of(was_there, difference != Amount::default());
    Ok(PlannedBalance::Add { amount: difference, outcome, is_new })
}

/// Refuses to open more balances than the network may have.
pub async fn check_new_balances(app: &App, network: NetworkId, new: i64) -> Result<(), EconomyError> {
    if new == 0 {
        return Ok(());
    }
    check_rows(app, network, store::ALL_BALANCES, new, ready(Ok(false))).await
}

/// Applies the planned change.
pub async fn write_balance(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    (player, currency, amount): (PlayerId, &Identifier, Amount),
    (key, reason): (&KeyId, &str),
) -> Result<(), EconomyError> {
    let change = BalanceChange { owner: Owner::player(player), currency: currency.clone(), amount };
    let note = LedgerNote { reason: Some(reason.to_owned()), key: key.clone(), transaction: None };
    let now = app.clock.now();
    let applied = service::apply(app, tx, network, &change, now).await?;
    service::record(app, tx, network, &change, applied, &note, now).await
}
