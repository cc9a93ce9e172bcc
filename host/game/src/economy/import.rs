//! Import of balances from another tool.
//!
//! The first import of a balance sets it to the other tool's value. A later one adds the difference to the previously
//! imported value, so that changes made in between are kept.

use std::future::ready;

use hub_db::Tx;

use crate::app::App;
use crate::auth::KeyId;
use crate::economy::amount::Amount;
use crate::economy::model::{BalanceChange, Bounds, ChangedBalance, LedgerNote};
use crate::economy::service::{self, EconomyError};
use crate::economy::store;
use crate::events::{self, EventKind};
use crate::import_outcome::ImportOutcome;
use crate::limits::check_rows;
use crate::owner::{self, Owner};
use crate::values::{Identifier, NetworkId, PlayerId};

/// Balance from another tool.
#[derive(Clone, Copy, Debug)]
pub struct BalanceImport {
    pub player: PlayerId,
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

/// Plans the import of balances of a currency, in their order.
pub async fn plan_balances(
    app: &App,
    network: NetworkId,
    currency: &Identifier,
    imports: &[BalanceImport],
) -> Result<Vec<PlannedBalance>, hub_db::Error> {
    if imports.is_empty() {
        return Ok(vec![]);
    }
    let bounds = store::bounds(&app.db, network, currency).await?.unwrap_or_else(Bounds::undefined);
    let keys: Vec<_> = imports.iter().map(|import| Owner::player(import.player).key().to_owned()).collect();
    let keys: Vec<_> = keys.iter().map(String::as_str).collect();
    let open = store::balances_of(&app.db, network, owner::PLAYER, currency, &keys).await?;
    let plan = |(import, key): (&BalanceImport, &&str)| plan_balance(*import, open.get(*key).copied(), bounds);
    Ok(imports.iter().zip(&keys).map(plan).collect())
}

fn plan_balance(import: BalanceImport, open: Option<Amount>, bounds: Bounds) -> PlannedBalance {
    let BalanceImport { amount, imported_before, .. } = import;
    let current = open.unwrap_or_else(|| bounds.opening_balance());
    let difference = match imported_before {
        Some(before) => amount.ten_thousandths().saturating_sub(before),
        None => amount.ten_thousandths().saturating_sub(current.ten_thousandths()),
    };
    let target = current.ten_thousandths().saturating_add(difference);
    let target = Amount::of_ten_thousandths(target).filter(|target| bounds.clamp(*target) == *target);
    let (Some(_), Some(difference)) = (target, Amount::of_ten_thousandths(difference)) else {
        return PlannedBalance::OutOfBounds;
    };
    let was_there = open.is_some() || imported_before.is_some();
    let outcome = ImportOutcome::of(was_there, difference != Amount::default());
    PlannedBalance::Add { amount: difference, outcome, is_new: open.is_none() }
}

/// Refuses to open more balances than the network may have.
pub async fn check_new_balances(app: &App, network: NetworkId, new: i64) -> Result<(), EconomyError> {
    if new == 0 {
        return Ok(());
    }
    check_rows(app, network, store::ALL_BALANCES, new, ready(Ok(false))).await.map(drop)
}

/// Applies planned changes of a currency, each of another player.
pub async fn write_balances(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    (currency, changes): (&Identifier, &[(PlayerId, Amount)]),
    (key, reason): (&KeyId, &str),
) -> Result<(), EconomyError> {
    if changes.is_empty() {
        return Ok(());
    }
    service::ensure_currency(app, tx, network, currency).await?;
    let now = app.clock.now();
    let changes: Vec<_> = changes
        .iter()
        .map(|(player, amount)| {
            let owner = Owner::player(*player);
            (BalanceChange { owner, currency: currency.clone(), amount: *amount }, app.logical_clock.next(now))
        })
        .collect();
    let many: Vec<_> =
        changes.iter().map(|(change, at)| (change.owner.key(), change.amount.ten_thousandths(), *at)).collect();
    let applied = store::apply_many(tx, network, owner::PLAYER, currency, &many).await?;
    let applied: Vec<_> =
        changes.iter().filter_map(|(change, _)| Some((change, *applied.get(change.owner.key())?))).collect();
    if applied.len() < changes.len() {
        return Err(hub_db::Error::NotFound.into());
    }
    let entries: Vec<_> = applied
        .iter()
        .map(|(change, applied)| {
            let (previous, balance) = (applied.previous.ten_thousandths(), applied.balance.ten_thousandths());
            (change.owner.key(), applied.ledger_id, change.amount.ten_thousandths(), previous, balance)
        })
        .collect();
    let note = LedgerNote { reason: Some(reason.to_owned()), key: key.clone(), transaction: None, asked: None };
    store::append_many(tx, network, (owner::PLAYER, currency), &entries, &note, now).await?;
    let events = applied.into_iter().map(|(change, applied)| ChangedBalance::new(change, applied));
    Ok(events::publish_many_in(app, tx, network, EventKind::BalanceChanged, events).await?)
}
