//! Rules of networks and keys.

use axum::http::StatusCode;
use hub_db::{Db, Tx};
use serde_json::{Value, json};
use thiserror::Error;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::key::{self, KeyHash};
use crate::auth::moves::LEFT;
use crate::auth::{Bindings, Caller, KeyCache, KeyId, KeyRow, OPERATOR_NETWORK, Origin, Scope, Scopes};
use crate::clock::{Clock, Millis};
use crate::component::{Components, Left, LeftKind};
use crate::http::answer::json_size;
use crate::http::error::ApiError;
use crate::ids::Ids;
use crate::limits::{self, Limit, QuotaExceeded};
use crate::networks::{admin_store, left, moves_store, store};
use crate::plans;
use crate::plans::PlansError;
use crate::secret_text::SecretText;
use crate::values::NetworkId;

/// Length in characters of base 62.
pub(crate) const SIGNING_SECRET_LENGTH: usize = 48;

/// Reason for the failure of a request about networks and keys.
#[derive(Debug, Error)]
pub enum NetworksError {
    /// The name is taken.
    #[error("A network named `{0}` already exists.")]
    NameTaken(String),
    /// No such network.
    #[error("No network {0}.")]
    UnknownNetwork(NetworkId),
    /// No network has this name.
    #[error("No network `{0}`.")]
    NoSuchName(String),
    /// No such key in the caller's network.
    #[error("This network has no key `{}`.", .0.0)]
    UnknownKey(KeyId),
    /// A caller tried to grant scopes that it lacks.
    #[error("Cannot manage a key with more scopes than the caller's.")]
    ScopesExceedOwn,
    /// A caller tried to change a key that expires later than its own.
    #[error("Cannot manage a key that outlives the caller's.")]
    OutlivesOwn,
    /// A caller tried to change a key with wider bindings than its own.
    #[error("Cannot manage a key for servers or addresses outside the caller's.")]
    BindingsExceedOwn,
    /// A suspended network serves no requests.
    #[error("This network is suspended.")]
    Suspended,
    /// A key with the scope `operator` cannot belong to a network.
    #[error("A network's key cannot have the scope `operator`.")]
    OperatorScope,
    /// The network's quota is used up.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// The deletion has begun and cannot be cancelled.
    #[error("The network {0} is already being deleted.")]
    BeingDeleted(NetworkId),
    /// The network is here, and not on its way.
    #[error("The network {0} already exists.")]
    Exists(NetworkId),
    /// The network moves to another hub, or from one.
    #[error("The network {0} is moving; complete or cancel the move first.")]
    Moving(NetworkId),
    /// The network has moved to the hub at this address.
    #[error("The network {0} has moved to {1}; do it there.")]
    Elsewhere(NetworkId, String),
    /// More days of chat than the plan allows.
    #[error("In the body, `chatHistoryDays`: must be 0 to {0}.")]
    ChatHistoryDays(i64),
    /// The plan is unknown or invalid.
    #[error(transparent)]
    Plan(#[from] PlansError),
    /// The caller may no longer do it.
    #[error(transparent)]
    Refused(Box<ApiError>),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<ApiError> for NetworksError {
    fn from(refusal: ApiError) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

impl From<NetworksError> for ApiError {
    fn from(error: NetworksError) -> Self {
        let message = error.to_string();
        match error {
            NetworksError::NameTaken(_) | NetworksError::Exists(_) => Self::bad_request("name_taken", message),
            NetworksError::UnknownNetwork(_) | NetworksError::NoSuchName(_) => {
                Self::not_found("unknown_network", message)
            }
            NetworksError::UnknownKey(_) => Self::not_found("unknown_key", message),
            NetworksError::ScopesExceedOwn | NetworksError::OutlivesOwn => {
                Self::new(StatusCode::FORBIDDEN, "forbidden_scope", message)
            }
            NetworksError::BindingsExceedOwn => Self::new(StatusCode::FORBIDDEN, "forbidden_origin", message),
            NetworksError::Suspended => Self::new(StatusCode::FORBIDDEN, "network_suspended", message),
            NetworksError::OperatorScope => Self::bad_request("operator_scope", message),
            NetworksError::Refused(refusal) => *refusal,
            NetworksError::Quota(exceeded) => exceeded.into(),
            NetworksError::BeingDeleted(_) => Self::new(StatusCode::CONFLICT, "network_being_deleted", message),
            NetworksError::Moving(_) | NetworksError::Elsewhere(..) => {
                Self::new(StatusCode::CONFLICT, "network_moving", message)
            }
            NetworksError::ChatHistoryDays(_) => Self::invalid(message),
            NetworksError::Plan(error) => error.into(),
            NetworksError::Database(error) => error.into(),
        }
    }
}

/// True if writes of players' data must name the fence of an open session.
pub async fn requires_sessions(tx: &mut Tx, network: NetworkId) -> Result<bool, hub_db::Error> {
    store::requires_sessions(tx, network).await
}

/// Lets transactions of the network that count and add go on one after the other: each locks it first.
pub async fn lock_in(tx: &mut Tx, network: NetworkId) -> Result<(), hub_db::Error> {
    store::lock_settings(tx, network).await.map(drop)
}

/// A key to create.
#[derive(Clone, Debug)]
pub struct NewKey {
    /// Display name.
    pub name: String,
    /// Scopes it grants.
    pub scopes: Scopes,
    /// Expiry of the key.
    pub expires_at: Option<Millis>,
    /// Servers and addresses it is bound to.
    pub bindings: Bindings,
}

impl NewKey {
    /// Size of its listed fields, without the small ones.
    fn bytes(&self) -> i64 {
        json_size(&(&self.name, &self.bindings.servers, &self.bindings.addresses)) as i64
    }
}

/// A key that was just created or rotated; its text is shown only now.
#[derive(Clone, Debug)]
pub struct MintedKey {
    /// Id of the key.
    pub id: KeyId,
    /// Text of the key.
    pub text: SecretText,
    /// Display name.
    pub name: String,
    /// Scopes it grants.
    pub scopes: Scopes,
    /// Expiry of the key.
    pub expires_at: Option<Millis>,
    /// Servers and addresses it is bound to.
    pub bindings: Bindings,
}

/// A key's form in the audit log.
fn shown(name: &str, scopes: Scopes, expires_at: Option<Millis>, bindings: &Bindings) -> Value {
    let scopes: Vec<_> = scopes.iter().collect();
    json!({
        "name": name, "scopes": scopes, "expiresAt": expires_at, "servers": bindings.servers,
        "addresses": bindings.addresses,
    })
}

impl MintedKey {
    fn shown(&self) -> Value {
        shown(&self.name, self.scopes, self.expires_at, &self.bindings)
    }
}

pub(super) fn shown_row(row: &KeyRow) -> Value {
    shown(&row.name, Scopes::from_text(&row.scopes), row.expires_at, &row.bindings())
}

/// Creates a network and its first key, with all scopes except `operator`, for direct work on the database.
pub async fn create_network(
    db: &Db,
    clock: &Clock,
    ids: &Ids,
    name: &str,
) -> Result<(NetworkId, MintedKey), NetworksError> {
    create_network_on(db, &Origin::command_line(clock, ids), name, None).await
}

/// Creates a network on any plan.
pub(super) async fn create_network_on(
    db: &Db,
    origin: &Origin,
    name: &str,
    plan: Option<&str>,
) -> Result<(NetworkId, MintedKey), NetworksError> {
    let Origin { clock, ids, .. } = origin;
    let network = NetworkId(ids.uuid());
    let (name_of_key, bindings) = ("owner".to_owned(), Bindings::default());
    let (key, sha256) =
        mint(ids, network, NewKey { name: name_of_key, scopes: Scopes::owner(), expires_at: None, bindings });
    let now = clock.now();
    db.transaction(async |mut tx| {
        origin.still_may(&mut tx).await?;
        if let Some(plan) = plan {
            plans::service::lock(&mut tx, plan).await?;
        }
        store::insert_network(&mut tx, network, name, now).await.map_err(|error| {
            if error.is_unique_violation() { NetworksError::NameTaken(name.to_owned()) } else { error.into() }
        })?;
        admin_store::update(&mut tx, network, None, plan, None).await?;
        store::insert_key(&mut tx, network, &key, &sha256, (now, &origin.actor.id)).await?;
        let after = json!({"name": name, "plan": plan.unwrap_or(plans::service::DEFAULT_PLAN), "keyId": key.id});
        Ok::<_, NetworksError>(
            audit::record(&mut tx, network, origin, Change::new(Action::NetworkCreated, network).after(after)).await?,
        )
    })
    .await?;
    Ok((network, key))
}

/// Creates a key of a network, for direct work on the database.
pub async fn create_key(
    db: &Db,
    clock: &Clock,
    ids: &Ids,
    network: NetworkId,
    new: NewKey,
) -> Result<MintedKey, NetworksError> {
    QuotaExceeded::check(Limit::KeyBytes, Limit::KeyBytes.bound(), 0, new.bytes())?;
    create_key_by(db, &Origin::command_line(clock, ids), network, new, None).await
}

/// Creates a key, and forgets the network's ended keys except for the newest if `forgets` says how many.
async fn create_key_by(
    db: &Db,
    origin: &Origin,
    network: NetworkId,
    new: NewKey,
    forgets: Option<(&Components, i64)>,
) -> Result<MintedKey, NetworksError> {
    let Origin { clock, ids, .. } = origin;
    let (key, sha256) = mint(ids, network, new);
    let now = clock.now();
    db.transaction(async |mut tx| {
        origin.still_may(&mut tx).await?;
        check_here(&mut tx, network).await?;
        if !store::network_exists(&mut tx, network).await? {
            if network != OPERATOR_NETWORK {
                return Err(NetworksError::UnknownNetwork(network));
            }
            store::insert_network(&mut tx, network, "(operator)", now).await?;
        }
        store::insert_key(&mut tx, network, &key, &sha256, (now, &origin.actor.id)).await?;
        if let Some((components, kept)) = forgets {
            left::forget_ended_keys(components, &mut tx, network, clock.cutoff(), kept).await?;
        }
        let change = Change::new(Action::KeyCreated, &key.id.0).after(key.shown());
        Ok(audit::record(&mut tx, network, origin, change).await?)
    })
    .await?;
    Ok(key)
}

/// Creates a key for a caller, which cannot grant more than it has and whose bindings pass to the key.
pub(super) async fn create_key_for(app: &App, caller: &Caller, new: NewKey) -> Result<MintedKey, NetworksError> {
    let network = caller.network;
    let new = within_bounds(caller, new)?;
    require_scopes(caller, new.scopes)?;
    if new.scopes.iter().any(|scope| scope == Scope::Operator) {
        return Err(NetworksError::OperatorScope);
    }
    create_key_within_limit(app, network, new, &caller.origin(app)).await
}

/// Creates a key of a network within its limit of keys.
pub(super) async fn create_key_within_limit(
    app: &App,
    network: NetworkId,
    new: NewKey,
    origin: &Origin,
) -> Result<MintedKey, NetworksError> {
    let keys = store::count_keys(&app.db, network, app.clock.now()).await?;
    limits::of(app, network).await?.check(Limit::Keys, keys, 1)?;
    limits::check(app, Limit::KeyBytes, 0, new.bytes())?;
    let kept = limits::bound(app, Limit::EndedKeys);
    create_key_by(&app.db, origin, network, new, Some((app.components(), kept))).await
}

/// Number of the network's keys that are neither revoked nor expired.
pub async fn key_count(app: &App, network: NetworkId) -> Result<i64, hub_db::Error> {
    store::count_keys(&app.db, network, app.clock.now()).await
}

/// Refuses a key with more scopes than the caller's own.
fn require_scopes(caller: &Caller, scopes: Scopes) -> Result<(), NetworksError> {
    if caller.scopes.cover(scopes) { Ok(()) } else { Err(NetworksError::ScopesExceedOwn) }
}

/// Refuses a key with wider bindings or a later expiry than the caller's own.
fn require_bounds(caller: &Caller, expires_at: Option<Millis>, bindings: &Bindings) -> Result<(), NetworksError> {
    if caller.expires_at.is_some_and(|own| expires_at.is_none_or(|at| at > own)) {
        return Err(NetworksError::OutlivesOwn);
    }
    if !caller.bindings.cover(bindings) {
        return Err(NetworksError::BindingsExceedOwn);
    }
    Ok(())
}

/// A new key with the caller's bindings besides its own, unless it would outlive the caller's.
pub(super) fn within_bounds(caller: &Caller, new: NewKey) -> Result<NewKey, NetworksError> {
    let new = NewKey { bindings: caller.bindings.pass_to(new.bindings), ..new };
    require_bounds(caller, new.expires_at, &new.bindings)?;
    Ok(new)
}

/// The live key, if the caller may rotate or revoke it.
async fn managed_key(tx: &mut Tx, caller: &Caller, id: &KeyId) -> Result<KeyRow, NetworksError> {
    let row = store::live_key(tx, caller.network, id).await?;
    let row = row.ok_or_else(|| NetworksError::UnknownKey(id.clone()))?;
    require_scopes(caller, Scopes::from_text(&row.scopes))?;
    require_bounds(caller, row.expires_at, &row.bindings())?;
    Ok(row)
}

/// Replaces a key's secret; the old one stays valid for `overlap_ms`.
pub(super) async fn roll_key(
    app: &App,
    caller: &Caller,
    id: &KeyId,
    overlap_ms: Millis,
) -> Result<MintedKey, NetworksError> {
    let (text, hash) = key::mint(&app.ids, id);
    let until = app.clock.now().saturating_add(overlap_ms);
    let row = app
        .db
        .transaction(async |mut tx| {
            let origin = caller.origin(app);
            origin.still_may(&mut tx).await?;
            let row = managed_key(&mut tx, caller, id).await?;
            store::roll_key(&mut tx, caller.network, id, &hash, (until, &caller.key)).await?;
            let change = Change::new(Action::KeyRolled, &id.0).after(json!({"overlapUntil": until}));
            audit::record(&mut tx, caller.network, &origin, change).await?;
            let (cached, rolled) = (app.clone(), id.clone());
            // Not before the commit: a call with the old secret meanwhile would cache the old row again.
            tx.on_end(move || cached.state::<KeyCache>().invalidate(&rolled));
            Ok::<_, NetworksError>(row)
        })
        .await?;
    let (scopes, bindings) = (Scopes::from_text(&row.scopes), row.bindings());
    Ok(MintedKey { id: id.clone(), text, name: row.name, scopes, expires_at: row.expires_at, bindings })
}

/// Revokes a key within the caller's scopes.
pub(super) async fn revoke_key_for(
    app: &App,
    caller: &Caller,
    id: &KeyId,
    all: bool,
) -> Result<Vec<Left>, NetworksError> {
    let (network, origin) = (caller.network, caller.origin(app));
    let left = app
        .db
        .transaction(async |mut tx| {
            origin.still_may(&mut tx).await?;
            managed_key(&mut tx, caller, id).await?;
            end_key(app.components(), &mut tx, &origin, network, id, all).await
        })
        .await?;
    forget_keys(app, id, &left);
    Ok(left)
}

/// Refuses a change of what a network has taken along, or is about to: it would be of no effect.
async fn check_here(tx: &mut Tx, network: NetworkId) -> Result<(), NetworksError> {
    match moves_store::find(tx, network).await? {
        None => Ok(()),
        Some(row) if row.state == LEFT => Err(NetworksError::Elsewhere(network, row.url)),
        Some(_) => Err(NetworksError::Moving(network)),
    }
}

/// Revokes a live key, and with `all` what it created. Returns what it created.
async fn end_key(
    components: &Components,
    tx: &mut Tx,
    origin: &Origin,
    network: NetworkId,
    id: &KeyId,
    all: bool,
) -> Result<Vec<Left>, NetworksError> {
    check_here(tx, network).await?;
    let row = store::live_key(tx, network, id).await?.ok_or_else(|| NetworksError::UnknownKey(id.clone()))?;
    store::revoke_key(tx, network, id, origin.clock.now()).await?;
    let change = Change::new(Action::KeyRevoked, &id.0).before(shown_row(&row));
    audit::record(tx, network, origin, change).await?;
    Ok(left::find(components, tx, origin, network, (&id.0, None), all).await?)
}

/// Ends the use of a revoked key and of those that ended with it, at once on this node.
fn forget_keys(app: &App, id: &KeyId, left: &[Left]) {
    let cache = app.state::<KeyCache>();
    cache.invalidate(id);
    let ended = left.iter().filter(|it| it.kind == LeftKind::Key && it.ended);
    ended.for_each(|it| cache.invalidate(&KeyId(it.id.clone())));
}

/// Revokes any key of a network, at once on this node.
pub(super) async fn revoke_key_at_once(
    app: &App,
    network: NetworkId,
    id: &KeyId,
    origin: &Origin,
    all: bool,
) -> Result<Vec<Left>, NetworksError> {
    let left = revoke_key(&app.db, app.components(), origin, network, id, all).await?;
    forget_keys(app, id, &left);
    Ok(left)
}

/// Revokes any key of a network, and with `all` what it created. Hubs that serve it notice within a second.
pub async fn revoke_key(
    db: &Db,
    components: &Components,
    origin: &Origin,
    network: NetworkId,
    id: &KeyId,
    all: bool,
) -> Result<Vec<Left>, NetworksError> {
    db.transaction(async |mut tx| end_key(components, &mut tx, origin, network, id, all).await).await
}

/// A page of the network's live keys, and their number.
pub async fn list_keys(
    db: &Db,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<KeyRow>, i64), NetworksError> {
    Ok(store::list_keys(db, network, limit, offset).await?)
}

/// Refuses keyless requests, such as signed links, of a suspended or deleted network.
pub async fn require_active(db: &Db, network: NetworkId) -> Result<(), NetworksError> {
    match store::is_suspended(db, network).await? {
        Some(false) => Ok(()),
        Some(true) => Err(NetworksError::Suspended),
        None => Err(NetworksError::UnknownNetwork(network)),
    }
}

/// True for a network that exists and is not suspended: the hub works only for these, since nobody can look after what it
/// would do for the others.
pub async fn is_active(db: &Db, network: NetworkId) -> Result<bool, hub_db::Error> {
    Ok(store::is_suspended(db, network).await? == Some(false))
}

/// Network with this name.
pub async fn find_network(db: &Db, name: &str) -> Result<Option<NetworkId>, NetworksError> {
    Ok(store::find_network(db, name).await?)
}

/// Network with this id or name.
pub async fn resolve_network(db: &Db, id_or_name: &str) -> Result<NetworkId, NetworksError> {
    if let Ok(id) = id_or_name.parse() {
        return Ok(NetworkId(id));
    }
    store::find_network(db, id_or_name).await?.ok_or_else(|| NetworksError::NoSuchName(id_or_name.to_owned()))
}

/// All networks.
pub async fn network_ids(db: &Db) -> Result<Vec<NetworkId>, hub_db::Error> {
    store::network_ids(db).await
}

fn mint(ids: &Ids, network: NetworkId, new: NewKey) -> (MintedKey, KeyHash) {
    let id = key::generate_id(ids, network);
    let (text, sha256) = key::mint(ids, &id);
    let NewKey { name, scopes, expires_at, bindings } = new;
    (MintedKey { id, text, name, scopes, expires_at, bindings }, sha256)
}
