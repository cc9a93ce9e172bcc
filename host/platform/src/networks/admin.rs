//! The operator's rules of networks: creation, plans, suspension, deletion.

use hub_db::Db;
use serde_json::{Value, json};

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::moves::LEFT;
use crate::auth::{Caller, KeyId, KeyRow, Origin, Scope};
use crate::clock::Millis;
use crate::component::Left;
pub use crate::networks::admin_store::NetworkRow;
use crate::networks::admin_store::{self as store, DeletedNetworkRow};
use crate::networks::service::{self, MintedKey, NetworksError, NewKey};
use crate::networks::{deletion, moves_store};
use crate::plans;
use crate::values::NetworkId;

/// A network, or the remains of a deleted one.
#[derive(Clone, Debug)]
pub(super) enum FoundNetwork {
    There(NetworkRow),
    Deleted(DeletedNetworkRow),
}

/// A page of the networks, oldest first, and their number.
pub async fn list(db: &Db, limit: i64, offset: i64) -> Result<(Vec<NetworkRow>, i64), NetworksError> {
    Ok(store::list(db, limit, offset).await?)
}

/// An existing network.
pub async fn network(db: &Db, network: NetworkId) -> Result<NetworkRow, NetworksError> {
    store::find(db, network).await?.ok_or(NetworksError::UnknownNetwork(network))
}

/// One network, deleted or not.
pub(super) async fn find(db: &Db, network: NetworkId) -> Result<FoundNetwork, NetworksError> {
    if let Some(row) = store::find(db, network).await? {
        return Ok(FoundNetwork::There(row));
    }
    let deleted = store::find_deleted(db, network).await?;
    deleted.map(FoundNetwork::Deleted).ok_or(NetworksError::UnknownNetwork(network))
}

/// True if a network was deleted completely.
pub async fn is_deleted(db: &Db, network: NetworkId) -> Result<bool, NetworksError> {
    Ok(store::is_deleted(db, network).await?)
}

/// Creates a network on a plan, and its first key.
pub(super) async fn create(
    app: &App,
    origin: &Origin,
    name: &str,
    plan: Option<&str>,
) -> Result<(NetworkRow, MintedKey), NetworksError> {
    let (network, key) = service::create_network_on(&app.db, origin, name, plan).await?;
    Ok((self::network(&app.db, network).await?, key))
}

/// A network's form in the audit log.
fn shown(row: &NetworkRow) -> Value {
    json!({"name": row.name, "plan": row.plan, "suspended": row.suspended, "deleteAt": row.delete_at})
}

/// Changes of a network.
#[derive(Clone, Copy, Debug, Default)]
pub struct NetworkChange<'a> {
    pub name: Option<&'a str>,
    pub plan: Option<&'a str>,
    /// False cancels a deletion.
    pub suspended: Option<bool>,
}

/// Changes a network. In effect everywhere within a second.
pub async fn change(
    db: &Db,
    origin: &Origin,
    network: NetworkId,
    change: NetworkChange<'_>,
) -> Result<NetworkRow, NetworksError> {
    db.transaction(async |mut tx| {
        origin.still_may(&mut tx).await?;
        store::lock(&mut tx, network).await?;
        let before = store::find(&mut tx, network).await?.ok_or(NetworksError::UnknownNetwork(network))?;
        if let Some(plan) = change.plan {
            plans::service::lock(&mut tx, plan).await?;
        }
        // One that has left is another hub's: here it would be a second one. One on its way is written down already.
        let row = moves_store::find(&mut tx, network).await?;
        if row.is_some_and(|row| row.state != LEFT || change.suspended.is_some()) {
            return Err(NetworksError::Moving(network));
        }
        if change.suspended == Some(false) && before.delete_at.is_some() {
            if !store::cancel_deletion(&mut tx, network).await? {
                return Err(NetworksError::BeingDeleted(network));
            }
            deletion::cancel(&mut tx, network).await?;
        }
        store::update(&mut tx, network, change.name, change.plan, change.suspended).await.map_err(
            |error| match change.name {
                Some(name) if error.is_unique_violation() => NetworksError::NameTaken(name.to_owned()),
                _ => error.into(),
            },
        )?;
        let after = store::find(&mut tx, network).await?.ok_or(NetworksError::UnknownNetwork(network))?;
        let entry = Change::new(Action::NetworkChanged, network).before(shown(&before)).after(shown(&after));
        audit::record(&mut tx, network, origin, entry).await?;
        Ok(after)
    })
    .await
}

/// Suspends a network and schedules its deletion, in seven days or at once. Returns its time.
pub async fn delete(db: &Db, origin: &Origin, network: NetworkId, at_once: bool) -> Result<Millis, NetworksError> {
    let now = origin.clock.now();
    let delete_at = deletion::delete_at(now, at_once);
    db.transaction(async |mut tx| {
        origin.still_may(&mut tx).await?;
        store::lock(&mut tx, network).await?;
        let before = store::find(&mut tx, network).await?.ok_or(NetworksError::UnknownNetwork(network))?;
        if moves_store::find(&mut tx, network).await?.is_some_and(|row| row.state != LEFT) {
            return Err(NetworksError::Moving(network));
        }
        store::update(&mut tx, network, None, None, Some(true)).await?;
        if store::schedule_deletion(&mut tx, network, &before.name, delete_at).await? {
            deletion::enqueue(&mut tx, network, now, delete_at).await?;
        }
        let after = store::find(&mut tx, network).await?;
        let entry = Change::new(Action::NetworkDeletionScheduled, network).before(shown(&before));
        let entry = if let Some(after) = &after { entry.after(shown(after)) } else { entry };
        audit::record(&mut tx, network, origin, entry).await?;
        Ok(after.and_then(|row| row.delete_at).unwrap_or(delete_at))
    })
    .await
}

/// A page of a network's live keys, and their number.
pub(super) async fn list_keys(
    app: &App,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<KeyRow>, i64), NetworksError> {
    self::network(&app.db, network).await?;
    service::list_keys(&app.db, network, limit, offset).await
}

/// Creates a key of a network.
pub(super) async fn create_key(
    app: &App,
    caller: &Caller,
    network: NetworkId,
    new: NewKey,
) -> Result<MintedKey, NetworksError> {
    if new.scopes.iter().any(|scope| scope == Scope::Operator) {
        return Err(NetworksError::OperatorScope);
    }
    let new = service::within_bounds(caller, new)?;
    self::network(&app.db, network).await?;
    service::create_key_within_limit(app, network, new, &caller.origin(app)).await
}

/// Revokes a key of a network.
pub(super) async fn revoke_key(
    app: &App,
    origin: &Origin,
    network: NetworkId,
    id: &KeyId,
    all: bool,
) -> Result<Vec<Left>, NetworksError> {
    self::network(&app.db, network).await?;
    service::revoke_key_at_once(app, network, id, origin, all).await
}
