//! Changes of balances by modules.

use hub_sandbox::contract::effects::{ModifyCurrency, Operation, Transaction};

use crate::app::App;
use crate::auth::KeyId;
use crate::economy::amount::Amount;
use crate::economy::model::{BalanceChange, LedgerNote};
use crate::economy::service;
use crate::http::error::ApiError;
use crate::modules::{ModuleActor, read_field, read_text};
use crate::owner::Owner;
use crate::values::NetworkId;

/// Maximum number of operations per transaction.
const MAX_OPERATIONS: usize = 16;

fn change(owner: (&str, &str), currency: &str, amount: i64) -> Result<BalanceChange, ApiError> {
    let (owner_type, owner_key) = (read_field("ownerType", owner.0)?, read_field("ownerKey", owner.1)?);
    let owner =
        Owner::new(owner_type, owner_key).map_err(|reason| ApiError::invalid(format!("`ownerKey`: {reason}.")))?;
    let amount = Amount::of_ten_thousandths(amount)
        .ok_or_else(|| ApiError::invalid("`amount`: must be from -900 trillion to 900 trillion."))?;
    Ok(BalanceChange { owner, currency: read_field("currency", currency)?, amount })
}

fn note(app: &App, actor: &ModuleActor, reason: Option<&String>, is_transaction: bool) -> Result<LedgerNote, ApiError> {
    let transaction = is_transaction.then(|| app.ids.uuid());
    let reason = reason.map(|reason| read_text::<1024>("reason", reason)).transpose()?;
    Ok(LedgerNote { reason, key: KeyId(actor.key()), transaction, asked: None })
}

/// Changes a balance.
pub async fn modify(
    app: &App,
    network: NetworkId,
    actor: &ModuleActor,
    effect: &ModifyCurrency,
) -> Result<(), ApiError> {
    let change = change((&effect.owner_type, &effect.owner_key), &effect.currency, effect.amount)?;
    let note = note(app, actor, effect.reason.as_ref(), false)?;
    service::change_balance(app, network, &change, effect.exact, &note, &[]).await?;
    Ok(())
}

/// Changes several balances together.
pub async fn transact(
    app: &App,
    network: NetworkId,
    actor: &ModuleActor,
    effect: &Transaction,
) -> Result<(), ApiError> {
    if !(1..=MAX_OPERATIONS).contains(&effect.operations.len()) {
        return Err(ApiError::invalid(format!("`operations`: must be 1 to {MAX_OPERATIONS} operations.")));
    }
    let of = |it: &Operation| change((&it.owner_type, &it.owner_key), &it.currency, it.amount);
    let changes = effect.operations.iter().map(of).collect::<Result<Vec<_>, _>>()?;
    let note = note(app, actor, effect.reason.as_ref(), true)?;
    service::change_balances(app, network, &changes, &note, &[]).await?;
    Ok(())
}
