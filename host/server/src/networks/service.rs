//! The rules of networks and keys.

use axum::http::StatusCode;
use hub_db::Db;
use thiserror::Error;

use crate::app::App;
use crate::auth::key::{self, KeyHash};
use crate::auth::{KeyId, KeyRow, OPERATOR_NETWORK, Scope, Scopes};
use crate::clock::{Clock, Millis};
use crate::http::error::ApiError;
use crate::ids::Ids;
use crate::networks::{admin_store, store};
use crate::plans;
use crate::plans::PlansError;
use crate::values::NetworkId;

/// Characters of base 62.
const SIGNING_SECRET_LENGTH: usize = 48;

/// What can be wrong with a request about networks and keys.
#[derive(Debug, Error)]
pub enum NetworksError {
    /// The name is taken.
    #[error("A network named `{0}` exists already.")]
    NameTaken(String),
    /// No such network.
    #[error("There is no network {0}.")]
    UnknownNetwork(NetworkId),
    /// No network has this name.
    #[error("There is no network `{0}`.")]
    NoSuchName(String),
    /// No such key in the caller's network.
    #[error("This network has no key `{}`.", .0.0)]
    UnknownKey(KeyId),
    /// A caller tried to grant more than it has.
    #[error("A key cannot hand out scopes it does not have itself.")]
    ScopesExceedOwn,
    /// A key for the operator's work cannot belong to a network.
    #[error("The scope `operator` is not a network's to give.")]
    OperatorScope,
    /// It is too late to keep the network.
    #[error("The network {0} is being deleted already.")]
    BeingDeleted(NetworkId),
    /// The plan.
    #[error(transparent)]
    Plan(#[from] PlansError),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<NetworksError> for ApiError {
    fn from(error: NetworksError) -> Self {
        let message = error.to_string();
        match error {
            NetworksError::NameTaken(_) => Self::bad_request("name_taken", message),
            NetworksError::UnknownNetwork(_) | NetworksError::NoSuchName(_) => {
                Self::not_found("unknown_network", message)
            }
            NetworksError::UnknownKey(_) => Self::not_found("unknown_key", message),
            NetworksError::ScopesExceedOwn => Self::new(StatusCode::FORBIDDEN, "forbidden_scope", message),
            NetworksError::OperatorScope => Self::bad_request("operator_scope", message),
            NetworksError::BeingDeleted(_) => Self::new(StatusCode::CONFLICT, "network_being_deleted", message),
            NetworksError::Plan(error) => error.into(),
            NetworksError::Database(error) => error.into(),
        }
    }
}

/// A key to create.
#[derive(Clone, Debug)]
pub struct NewKey {
    /// What its owner calls it.
    pub name: String,
    /// What it may do.
    pub scopes: Scopes,
    /// When it expires.
    pub expires_at: Option<Millis>,
}

/// A key that was just created or rolled; the only time its text is seen.
#[derive(Clone, Debug)]
pub struct MintedKey {
    /// Its id.
    pub id: KeyId,
    /// Its text.
    pub text: String,
    /// Its name.
    pub name: String,
    /// What it may do.
    pub scopes: Scopes,
    /// When it expires.
    pub expires_at: Option<Millis>,
}

/// Creates a network and its first key, which may do everything but the operator's work.
pub async fn create_network(
    db: &Db,
    clock: &Clock,
    ids: &Ids,
    name: &str,
) -> Result<(NetworkId, MintedKey), NetworksError> {
    create_network_on(db, clock, ids, name, None).await
}

/// The same on a plan that may be another than `default`.
pub(super) async fn create_network_on(
    db: &Db,
    clock: &Clock,
    ids: &Ids,
    name: &str,
    plan: Option<&str>,
) -> Result<(NetworkId, MintedKey), NetworksError> {
    let network = NetworkId(ids.uuid());
    let (key, sha256) = mint(ids, NewKey { name: "owner".to_owned(), scopes: Scopes::owner(), expires_at: None });
    let (signing_secret, now) = (ids.token(SIGNING_SECRET_LENGTH), clock.now());
    db.transaction(async |mut tx| {
        if let Some(plan) = plan {
            plans::service::lock(&mut tx, plan).await?;
        }
        store::insert_network(&mut tx, network, name, &signing_secret, now).await.map_err(|error| {
            if error.is_unique_violation() { NetworksError::NameTaken(name.to_owned()) } else { error.into() }
        })?;
        admin_store::update(&mut tx, network, None, plan, None).await?;
        Ok::<_, NetworksError>(store::insert_key(&mut tx, network, &key, &sha256, now).await?)
    })
    .await?;
    Ok((network, key))
}

/// Creates a key of a network, for someone who works on the database itself.
pub async fn create_key(
    db: &Db,
    clock: &Clock,
    ids: &Ids,
    network: NetworkId,
    new: NewKey,
) -> Result<MintedKey, NetworksError> {
    let (key, sha256) = mint(ids, new);
    let (signing_secret, now) = (ids.token(SIGNING_SECRET_LENGTH), clock.now());
    db.transaction(async |mut tx| {
        if !store::network_exists(&mut tx, network).await? {
            if network != OPERATOR_NETWORK {
                return Err(NetworksError::UnknownNetwork(network));
            }
            store::insert_network(&mut tx, network, "(operator)", &signing_secret, now).await?;
        }
        Ok(store::insert_key(&mut tx, network, &key, &sha256, now).await?)
    })
    .await?;
    Ok(key)
}

/// Creates a key for a caller, who cannot grant more than it has.
pub(super) async fn create_key_for(
    app: &App,
    network: NetworkId,
    own: Scopes,
    new: NewKey,
) -> Result<MintedKey, NetworksError> {
    if new.scopes.iter().any(|scope| scope == Scope::Operator) {
        return Err(NetworksError::OperatorScope);
    }
    if !own.cover(new.scopes) {
        return Err(NetworksError::ScopesExceedOwn);
    }
    create_key(&app.db, &app.clock, &app.ids, network, new).await
}

/// Gives a key a new secret; the old one stays valid for `overlap_ms`. Whoever rolls a key learns its secret, so a key
/// that may do more than the caller's `own` scopes is refused.
pub(super) async fn roll_key(
    app: &App,
    network: NetworkId,
    own: Scopes,
    id: &KeyId,
    overlap_ms: Millis,
) -> Result<MintedKey, NetworksError> {
    let (text, hash) = key::mint(&app.ids, id);
    let until = app.clock.now().saturating_add(overlap_ms);
    let row = app
        .db
        .transaction(async |mut tx| {
            let row = store::live_key(&mut tx, network, id).await?;
            let row = row.ok_or_else(|| NetworksError::UnknownKey(id.clone()))?;
            if !own.cover(Scopes::from_text(&row.scopes)) {
                return Err(NetworksError::ScopesExceedOwn);
            }
            store::roll_key(&mut tx, network, id, &hash, until).await?;
            Ok::<_, NetworksError>(row)
        })
        .await?;
    let (cached, rolled) = (app.clone(), id.clone());
    // Not before the commit: a call with the old secret meanwhile would cache the old row again.
    hub_db::after_commit(async move { cached.keys.invalidate(&rolled) }).await;
    let scopes = Scopes::from_text(&row.scopes);
    Ok(MintedKey { id: id.clone(), text, name: row.name, scopes, expires_at: row.expires_at })
}

/// Revokes a key.
pub(super) async fn revoke_key(app: &App, network: NetworkId, id: &KeyId) -> Result<(), NetworksError> {
    if !store::revoke_key(&app.db, network, id, app.clock.now()).await? {
        return Err(NetworksError::UnknownKey(id.clone()));
    }
    app.keys.invalidate(id);
    Ok(())
}

/// A page of the network's live keys, and how many there are.
pub(super) async fn list_keys(
    app: &App,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<KeyRow>, i64), NetworksError> {
    Ok(store::list_keys(&app.db, network, limit, offset).await?)
}

/// The secret with which the network's commands to servers are signed.
pub(crate) async fn signing_secret(app: &App, network: NetworkId) -> Result<String, NetworksError> {
    store::signing_secret(&app.db, network).await?.ok_or(NetworksError::UnknownNetwork(network))
}

/// The network called `name`.
pub(crate) async fn find_network(db: &Db, name: &str) -> Result<Option<NetworkId>, NetworksError> {
    Ok(store::find_network(db, name).await?)
}

/// The network with this id or name.
pub(crate) async fn resolve_network(db: &Db, id_or_name: &str) -> Result<NetworkId, NetworksError> {
    if let Ok(id) = id_or_name.parse() {
        return Ok(NetworkId(id));
    }
    store::find_network(db, id_or_name).await?.ok_or_else(|| NetworksError::NoSuchName(id_or_name.to_owned()))
}

/// All networks.
pub(crate) async fn network_ids(db: &Db) -> Result<Vec<NetworkId>, hub_db::Error> {
    store::network_ids(db).await
}

fn mint(ids: &Ids, new: NewKey) -> (MintedKey, KeyHash) {
    let id = key::generate_id(ids);
    let (text, sha256) = key::mint(ids, &id);
    let NewKey { name, scopes, expires_at } = new;
    (MintedKey { id, text, name, scopes, expires_at }, sha256)
}
