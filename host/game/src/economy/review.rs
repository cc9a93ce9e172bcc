//! Has changes of balances reviewed by the network's modules, before they are made. Only connectors' requests are: a
//! module's effects and imports are not.

use hub_sandbox::ReviewChange;
use hub_sandbox::contract::economy::{Change, ChangeKind, Decision, Operation};

use crate::app::App;
use crate::auth::Caller;
use crate::economy::amount::Amount;
use crate::economy::model::{BalanceChange, LedgerNote};
use crate::economy::service::EconomyError;
use crate::modules::service::{self as modules, Point, has_chain};
use crate::owner::Owner;
use crate::presence::Presence;

/// Has a single change reviewed, which may amend its amount.
pub(super) async fn review_one(
    app: &App,
    caller: &Caller,
    change: &mut BalanceChange,
    note: &mut LedgerNote,
) -> Result<(), EconomyError> {
    let changes = std::slice::from_ref(change);
    if let Some(amount) = review(app, caller, ChangeKind::Modify, changes, note).await?
        && amount != change.amount
    {
        note.asked = Some(std::mem::replace(&mut change.amount, amount));
    }
    Ok(())
}

/// Has changes reviewed that belong together: all are made, or none.
pub(super) async fn review_all(
    app: &App,
    caller: &Caller,
    changes: &[BalanceChange],
    note: &LedgerNote,
) -> Result<(), EconomyError> {
    review(app, caller, ChangeKind::Transaction, changes, note).await.map(drop)
}

/// Asks the network's modules, before a transaction begins. Returns an amended amount.
async fn review(
    app: &App,
    caller: &Caller,
    kind: ChangeKind,
    changes: &[BalanceChange],
    note: &LedgerNote,
) -> Result<Option<Amount>, EconomyError> {
    if !has_chain(app, caller.network, Point::Economy) {
        return Ok(None);
    }
    let change = Change {
        kind,
        operations: changes.iter().map(operation).collect(),
        reason: note.reason.clone(),
        server_id: server(app, caller, changes),
    };
    match modules::call::<ReviewChange>(app, caller.network, change).await {
        Decision::Accept => Ok(None),
        // Its bounds are those of the contract, which are the same.
        Decision::Amend(amount) => Ok(Amount::of_ten_thousandths(amount)),
        Decision::Refuse(reason) => Err(EconomyError::Rejected(reason)),
    }
}

fn operation(change: &BalanceChange) -> Operation {
    let BalanceChange { owner, currency, amount } = change;
    Operation {
        owner_type: owner.owner_type().to_owned(),
        owner_key: owner.key().to_owned(),
        currency: currency.as_str().to_owned(),
        amount: amount.ten_thousandths(),
    }
}

/// Server of a change: the only one of the caller's key, or else that of the first player among the owners.
fn server(app: &App, caller: &Caller, changes: &[BalanceChange]) -> Option<String> {
    if let Some([server]) = caller.bindings.servers.as_deref() {
        return Some(server.as_str().to_owned());
    }
    let player = changes.iter().map(|change| &change.owner).find_map(Owner::player_id)?;
    let now = app.clock.now();
    let at = app.state::<Presence>().with(caller.network, |presence| presence.locate(player, now));
    at.map(|at| at.server_id.into_string())
}
