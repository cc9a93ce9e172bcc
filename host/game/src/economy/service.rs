//! The rules of currencies.

use std::cmp::Ordering;

use hub_db::Tx;
use serde_json::{Value, json};
use thiserror::Error;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::{Caller, Origin};
use crate::clock::Millis;
use crate::economy::amount::Amount;
use crate::economy::model::{
    AppliedChange, Balance, BalanceChange, Bounds, ChangedBalance, Currency, LedgerNote, LedgerRow, UncutChangeEvent,
};
use crate::economy::store;
use crate::events::{self, EventKind};
use crate::http::error::{ApiError, ErrorDetails};
use crate::http::if_match::{Changed, IfMatch};
use crate::limits::{self, Limit, QuotaExceeded, check_rows};
use crate::owner::Owner;
use crate::player_sessions::SessionError;
use crate::player_sessions::service::Fenced;
use crate::values::{Identifier, NetworkId, PlayerId};

/// Errors of requests about currencies.
#[derive(Debug, Error)]
pub enum EconomyError {
    /// The bounds contradict each other.
    #[error("{0}")]
    Bounds(&'static str),
    /// Another change came first.
    #[error(transparent)]
    Changed(#[from] Changed),
    /// An exact change would be cut.
    #[error("{refusal}{}", .operation.map(|at| format!(" (operation {at})")).unwrap_or_default())]
    Refused {
        /// Reason for the refusal.
        refusal: Refusal,
        /// Index of the refused change in its transaction.
        operation: Option<usize>,
    },
    /// The network's modules refuse the change, for this reason.
    #[error("{0}")]
    Rejected(String),
    /// The player's session does not allow it.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// Limit of the network reached.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

/// Reason for refusing an exact change.
#[derive(Clone, Copy, Debug, Error)]
pub enum Refusal {
    /// The balance would fall below the currency's minimum.
    #[error("The balance is too low; nothing was changed.")]
    InsufficientFunds,
    /// The balance would exceed the currency's maximum.
    #[error("The balance would exceed the currency's maximum; nothing was changed.")]
    OverMaximum,
}

impl Refusal {
    fn code(self) -> &'static str {
        match self {
            Self::InsufficientFunds => "insufficient_funds",
            Self::OverMaximum => "over_maximum",
        }
    }
}

impl From<EconomyError> for ApiError {
    fn from(error: EconomyError) -> Self {
        match error {
            EconomyError::Refused { refusal, operation } => {
                let refused = Self::bad_request(refusal.code(), error.to_string());
                match operation {
                    Some(_) => refused.details(ErrorDetails { operation, ..ErrorDetails::default() }),
                    None => refused,
                }
            }
            EconomyError::Bounds(message) => Self::invalid(message),
            EconomyError::Rejected(reason) => Self::bad_request("change_rejected", reason),
            EconomyError::Session(error) => error.into(),
            EconomyError::Changed(changed) => changed.into(),
            EconomyError::Quota(exceeded) => exceeded.into(),
            EconomyError::Database(error) => error.into(),
        }
    }
}

/// Changes a balance. A change beyond the currency's bounds is cut to them or, if `exact`, refused. The first change
/// of a balance opens it, and the first use of a currency creates it.
pub(super) async fn change_balance(
    app: &App,
    network: NetworkId,
    change: &BalanceChange,
    exact: bool,
    note: &LedgerNote,
    fenced: &[Fenced<'_>],
) -> Result<AppliedChange, EconomyError> {
    let is_there = store::is_open(&app.db, network, &change.owner, &change.currency);
    let _adding = check_rows::<EconomyError>(app, network, store::ALL_BALANCES, 1, is_there).await?;
    let now = app.clock.now();
    // The single statement would not say which module's call caused its event, nor what was asked for.
    if fenced.is_empty()
        && note.asked.is_none()
        && !events::has_cause()
        && let Some(applied) = change_uncut(app, network, change, note, now).await?
    {
        return Ok(applied);
    }
    app.db
        .transaction(async |mut tx| {
            check_fences(app, &mut tx, fenced).await?;
            let applied = apply(app, &mut tx, network, change, now).await?;
            if exact {
                check_exact(change, applied).map_err(|refusal| EconomyError::Refused { refusal, operation: None })?;
            }
            record(app, &mut tx, network, change, applied, note, now).await?;
            Ok(applied)
        })
        .await
}

/// Changes an existing balance with a single statement if nothing must be cut, the usual case.
async fn change_uncut(
    app: &App,
    network: NetworkId,
    change: &BalanceChange,
    note: &LedgerNote,
    now: Millis,
) -> Result<Option<AppliedChange>, hub_db::Error> {
    let BalanceChange { owner, currency, amount } = change;
    if amount.ten_thousandths().abs() > store::MAX_UNCUT {
        return Ok(None);
    }
    let event = UncutChangeEvent {
        owner_type: owner.owner_type(),
        owner_key: owner.key(),
        currency_name: currency,
        applied: *amount,
    };
    let event = events::open_data(EventKind::BalanceChanged, now, event)?;
    let at = app.logical_clock.next(now);
    let changed = store::change_uncut(&app.db, network, change, note, &event, at, now).await?;
    let Some((applied, has_event)) = changed else { return Ok(None) };
    if has_event {
        events::publish_written(app, network).await;
    }
    Ok(Some(applied))
}

/// Applies all of these changes exactly and in order, or none.
pub(super) async fn change_balances(
    app: &App,
    network: NetworkId,
    changes: &[BalanceChange],
    note: &LedgerNote,
    fenced: &[Fenced<'_>],
) -> Result<Vec<AppliedChange>, EconomyError> {
    let are_open = async {
        for change in changes {
            if !store::is_open(&app.db, network, &change.owner, &change.currency).await? {
                return Ok(false);
            }
        }
        Ok(true)
    };
    let added = i64::try_from(changes.len()).unwrap_or(i64::MAX);
    let _adding = check_rows::<EconomyError>(app, network, store::ALL_BALANCES, added, are_open).await?;
    let now = app.clock.now();
    let order = locking_order(changes);
    app.db
        .transaction(async |mut tx| {
            check_fences(app, &mut tx, fenced).await?;
            let mut applied = vec![None; changes.len()];
            let mut first_refused = None;
            for &at in &order {
                // Changes of other balances cannot make a later one possible.
                if first_refused.is_some_and(|(first, _)| first < at) {
                    continue;
                }
                let change = &changes[at];
                let made = apply(app, &mut tx, network, change, now).await?;
                match check_exact(change, made) {
                    Ok(()) => applied[at] = Some(made),
                    Err(refusal) => first_refused = Some((at, refusal)),
                }
            }
            if let Some((operation, refusal)) = first_refused {
                return Err(EconomyError::Refused { refusal, operation: Some(operation) });
            }
            let applied: Vec<_> = applied.into_iter().flatten().collect();
            for (change, applied) in changes.iter().zip(&applied) {
                record(app, &mut tx, network, change, *applied, note, now).await?;
            }
            Ok(applied)
        })
        .await
}

/// Sessions of the players among the owners, which must all have the fence. An owner that is no player has none.
pub(super) fn fenced<'a>(
    fence: Option<i64>,
    owners: impl Iterator<Item = &'a Owner>,
    caller: &'a Caller,
) -> Result<Vec<Fenced<'a>>, EconomyError> {
    let Some(fence) = fence else { return Ok(vec![]) };
    let mut players: Vec<PlayerId> = owners.filter_map(Owner::player_id).collect();
    players.sort_unstable();
    players.dedup();
    if players.is_empty() {
        return Err(SessionError::NoPlayer("In the body, `fence`: none of the owners is a player.").into());
    }
    Ok(players.into_iter().map(|player| Fenced { player, fence: Some(fence), caller }).collect())
}

async fn check_fences(app: &App, tx: &mut Tx, fenced: &[Fenced<'_>]) -> Result<(), EconomyError> {
    for fenced in fenced {
        fenced.check_in(app, tx).await?;
    }
    Ok(())
}

/// Order of applying changes, as indexes: the same for all callers, so that they cannot deadlock on balances. Changes
/// of one balance keep their order; those of different balances are independent. Ordered by currency first, because
/// the first use of a currency locks it.
fn locking_order(changes: &[BalanceChange]) -> Vec<usize> {
    let mut order: Vec<_> = (0..changes.len()).collect();
    order.sort_by_key(|at| {
        let BalanceChange { owner, currency, .. } = &changes[*at];
        (currency.as_str(), owner.owner_type(), owner.key())
    });
    order
}

pub(super) async fn apply(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    change: &BalanceChange,
    now: Millis,
) -> Result<AppliedChange, EconomyError> {
    let at = app.logical_clock.next(now);
    if let Some(applied) = store::apply_change(tx, network, change, at).await? {
        return Ok(applied);
    }
    if !store::open_balance(tx, network, &change.owner, &change.currency, at).await? {
        ensure_currency(app, tx, network, &change.currency).await?;
        store::open_balance(tx, network, &change.owner, &change.currency, at).await?;
    }
    Ok(store::apply_change(tx, network, change, at).await?.ok_or(hub_db::Error::NotFound)?)
}

/// Creates a currency unless it exists.
pub(super) async fn ensure_currency(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    currency: &Identifier,
) -> Result<(), EconomyError> {
    if store::find_currency(tx, network, currency).await?.is_some() {
        return Ok(());
    }
    store::create_currency(tx, network, currency).await?;
    // The currency is included.
    let currencies = store::count_currencies(&mut *tx, network).await?;
    Ok(limits::check(app, Limit::Currencies, currencies - 1, 1)?)
}

/// Refuses a change that was cut.
fn check_exact(change: &BalanceChange, applied: AppliedChange) -> Result<(), Refusal> {
    match applied.applied().cmp(&change.amount.into()) {
        Ordering::Equal => Ok(()),
        Ordering::Greater => Err(Refusal::InsufficientFunds),
        Ordering::Less => Err(Refusal::OverMaximum),
    }
}

/// Writes a change to the ledger and publishes its event.
pub(super) async fn record(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    change: &BalanceChange,
    applied: AppliedChange,
    note: &LedgerNote,
    now: Millis,
) -> Result<(), EconomyError> {
    store::append_to_ledger(tx, network, change, applied, note, now).await?;
    let changed = ChangedBalance::new(change, applied);
    Ok(events::publish_in(app, tx, network, EventKind::BalanceChanged, None, changed).await?)
}

/// An owner's balances by currency: opened ones, and those of currencies with a starting balance.
pub async fn balances(app: &App, network: NetworkId, owner: &Owner) -> Result<Vec<Balance>, hub_db::Error> {
    store::balances(&app.db, network, owner).await
}

/// An owner's balance of a currency; none if the currency does not exist.
pub async fn balance(
    app: &App,
    network: NetworkId,
    owner: &Owner,
    currency: &Identifier,
) -> Result<Option<Amount>, hub_db::Error> {
    store::balance(&app.db, network, owner, currency).await
}

/// Owners of a type with the highest balances of a currency, highest first.
pub(super) async fn leaderboard(
    app: &App,
    network: NetworkId,
    currency: &Identifier,
    owner_type: &str,
    limit: i64,
) -> Result<Vec<(String, Amount)>, EconomyError> {
    Ok(store::leaderboard(&app.db, network, currency, owner_type, limit).await?)
}

/// Audit log form of a currency.
pub(super) fn shown(bounds: &Bounds) -> Value {
    json!({"minimum": bounds.minimum, "maximum": bounds.maximum, "startingBalance": bounds.starting_balance})
}

/// Defines or redefines a currency. Balances outside new bounds stay as they are until their next change.
pub(super) async fn define_currency(
    app: &App,
    network: NetworkId,
    origin: &Origin,
    name: &Identifier,
    (bounds, expected): (Bounds, IfMatch),
) -> Result<(), EconomyError> {
    bounds.check().map_err(EconomyError::Bounds)?;
    if !store::has_currency(&app.db, network, name).await? {
        let currencies = store::count_currencies(&app.db, network).await?;
        limits::check(app, Limit::Currencies, currencies, 1)?;
    }
    app.db
        .transaction(async |mut tx| {
            let before = store::lock_currency(&mut tx, network, name).await?;
            expected.check(before.as_ref().map(|it| shown(&it.bounds)).as_ref())?;
            store::define_currency(&mut tx, network, name, bounds).await?;
            let change = Change::new(Action::CurrencyPut, name).after(shown(&bounds));
            let change = if let Some(before) = before { change.before(shown(&before.bounds)) } else { change };
            Ok(audit::record(&mut tx, network, origin, change).await?)
        })
        .await
}

/// Page of the network's currencies by name, and their number.
pub(super) async fn list_currencies(
    app: &App,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Currency>, i64), EconomyError> {
    Ok(store::list_currencies(&app.db, network, limit, offset).await?)
}

/// Page of an owner's ledger, of one currency or all, newest first, and the number of entries.
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
