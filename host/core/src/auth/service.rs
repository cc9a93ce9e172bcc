//! Authenticates requests and rechecks credentials later.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderMap, Method, StatusCode};

use crate::app::App;
use crate::auth::model::{ActiveKey, Credential, KeyRow, Scope, Scopes};
use crate::auth::moves::MovingNetworks;
use crate::auth::session::{self, SESSION_INVALID, SentToken};
use crate::auth::{KeyCache, key, moves, revocation, store};
use crate::background;
use crate::clock::Millis;
use crate::http::error::ApiError;
use crate::limits::Limits;

const KEY_HEADER: &str = "x-service-api-key";
const FLUSH_INTERVAL: Duration = Duration::from_secs(10);
/// Number of key uses stored per transaction.
const USES_AT_ONCE: usize = 200;

/// Starts the background work.
pub fn start(app: &App) {
    revocation::start(app);
    background::every(app, FLUSH_INTERVAL, "store when keys were used", |app| async move { flush_uses(&app).await });
}

/// Stores when keys were used before the hub stops.
pub async fn stop(app: &App) {
    if let Err(error) = flush_uses(app).await {
        tracing::warn!(%error, "could not store when keys were used");
    }
}

/// True if the request is sent with a key, not by a person.
pub fn is_by_key(headers: &HeaderMap) -> bool {
    headers.contains_key(KEY_HEADER)
}

/// Credential in a request.
pub(super) enum Sent<'a> {
    /// Value of the header for keys.
    Key(&'a [u8]),
    Session(SentToken),
}

impl<'a> Sent<'a> {
    /// Reads the credential; a key has precedence over a session.
    pub(super) fn of(headers: &'a HeaderMap, is_tls: bool) -> Option<Self> {
        let key = headers.get(KEY_HEADER).map(|value| Self::Key(value.as_bytes()));
        key.or_else(|| SentToken::of(headers, is_tls).map(Self::Session))
    }

    fn credential(&self, method: &Method, headers: &HeaderMap) -> Result<Credential, ApiError> {
        match self {
            Self::Key(header) => {
                let malformed = || unauthenticated("Malformed API key; expected hub_<id>_<secret>.");
                let text = std::str::from_utf8(header).map_err(|_| malformed())?;
                let id = key::parse(text).ok_or_else(malformed)?;
                Ok(Credential { id, sha256: key::hash(text) })
            }
            Self::Session(token) => {
                let (id, sha256) = session::credential_of(token, method.is_safe(), headers)?;
                Ok(Credential { id, sha256 })
            }
        }
    }
}

/// Authenticates a request's key or person: 401 unless valid, 403 if the network is suspended.
pub(super) async fn authenticate(
    app: &App,
    method: &Method,
    headers: &HeaderMap,
    remote: IpAddr,
) -> Result<ActiveKey, ApiError> {
    let sent = Sent::of(headers, app.settings.is_tls())
        .ok_or_else(|| unauthenticated("No API key; send it in the header X-Service-Api-Key."))?;
    let credential = sent.credential(method, headers)?;
    let moving = app.state::<MovingNetworks>();
    // Also before: it may have arrived since the key was looked up.
    let may_arrive = moving.may_arrive(&credential.id);
    let row = find_key(app, &credential, remote).await?;
    let row = row.ok_or_else(|| {
        let may_arrive = may_arrive || moving.may_arrive(&credential.id);
        if may_arrive { moves::refusal(false) } else { invalid(session::is_session(&credential.id)) }
    })?;
    let now = app.clock.now();
    let key = active_key(&row, credential, now)?;
    if !key.is_person {
        app.state::<KeyCache>().record_use(key.network, &key.id, now);
    }
    Ok(key)
}

/// Address of the hub to which the network of a valid key has moved; none for a person, whom that hub does not know.
pub async fn moved_to(
    app: &App,
    method: &Method,
    headers: &HeaderMap,
    remote: IpAddr,
) -> Result<Option<String>, ApiError> {
    let Some(sent) = Sent::of(headers, app.settings.is_tls()) else { return Ok(None) };
    let credential = sent.credential(method, headers)?;
    let row = find_key(app, &credential, remote).await?;
    // `check` has let no wrong key come this far. A network that had left a moment ago, and has not now, is on its way back.
    let row = row.filter(|row| row.move_state.as_deref() == Some(moves::LEFT)).ok_or_else(|| moves::refusal(false))?;
    Ok(row.moved_to.clone())
}

/// Returns the row's key if the credential matches and is valid now.
fn active_key(row: &KeyRow, credential: Credential, now: Millis) -> Result<ActiveKey, ApiError> {
    check(row, &credential, now)?;
    let is_person = session::is_session(&credential.id);
    Ok(ActiveKey {
        network: row.network_id,
        id: row.key_id.clone(),
        name: row.name.clone(),
        credential,
        scopes: Scopes::from_text(&row.scopes),
        bindings: row.bindings(),
        // Sessions end, but keys that the person created may stay valid.
        expires_at: row.expires_at.filter(|_| !is_person),
        is_person,
    })
}

/// Credentials that no longer permit `scope`, found with few queries.
pub async fn revoked(
    app: &App,
    credentials: HashSet<&Credential>,
    scope: Scope,
) -> Result<HashSet<Credential>, hub_db::Error> {
    if credentials.is_empty() {
        return Ok(HashSet::new());
    }
    let ids: HashSet<_> = credentials.iter().map(|credential| &credential.id).collect();
    let (sessions, keys): (Vec<_>, Vec<_>) = ids.into_iter().partition(|id| session::is_session(id));
    let rows = store::find_keys(&app.db.reserved(), &keys).await?;
    let mut rows: HashMap<_, _> = rows.into_iter().map(|row| (row.key_id.clone(), row)).collect();
    rows.extend(session::find_all(app, &sessions).await?);
    let now = app.clock.now();
    let is_valid = |credential: &Credential| {
        rows.get(&credential.id)
            .is_some_and(|row| check(row, credential, now).is_ok() && Scopes::from_text(&row.scopes).allow(scope))
    };
    Ok(credentials.into_iter().filter(|credential| !is_valid(credential)).cloned().collect())
}

/// Refuses a caller whose right ended since it was looked at, by the database alone.
pub(super) async fn still_valid(app: &App, credential: &Credential, scopes: Scopes) -> Result<(), ApiError> {
    let is_session = session::is_session(&credential.id);
    let row = if is_session {
        session::find(app, credential).await?
    } else {
        store::find_key(&app.db.reserved(), &credential.id).await?
    };
    let row = row.ok_or_else(|| invalid(is_session))?;
    check_still(&row, credential, scopes, app.clock.now())
}

/// Refuses a credential that is no longer valid, or has fewer scopes than before.
pub(super) fn check_still(row: &KeyRow, credential: &Credential, scopes: Scopes, now: Millis) -> Result<(), ApiError> {
    check(row, credential, now)?;
    if Scopes::from_text(&row.scopes).cover(scopes) {
        return Ok(());
    }
    let message = "Your rights have changed meanwhile; try again.";
    Err(ApiError::new(StatusCode::FORBIDDEN, "forbidden_scope", message))
}

/// 401 for a credential that is not or no longer valid; 403 if its network is suspended, 503 while it moves.
fn check(row: &KeyRow, credential: &Credential, now: Millis) -> Result<(), ApiError> {
    let current = key::hashes_equal(&credential.sha256, &row.sha256);
    let previous = row.previous_sha256.as_ref().is_some_and(|previous| key::hashes_equal(&credential.sha256, previous))
        && row.previous_until.is_some_and(|until| now < until);
    let has_ended = row.revoked_at.is_some() || row.expires_at.is_some_and(|at| at <= now);
    if !(current || previous) || has_ended {
        return Err(invalid(session::is_session(&credential.id)));
    }
    if row.suspended {
        return Err(moves::refusal_of(row.move_state.as_deref()));
    }
    Ok(())
}

/// 401 in the same words for unknown, wrong, revoked and expired credentials: it tells nothing about others' keys.
pub(super) fn invalid(is_person: bool) -> ApiError {
    unauthenticated(if is_person { SESSION_INVALID } else { "Invalid, revoked or expired API key." })
}

fn unauthenticated(message: &'static str) -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, "unauthenticated", message)
}

async fn find_key(app: &App, credential: &Credential, remote: IpAddr) -> Result<Option<Arc<KeyRow>>, ApiError> {
    let id = &credential.id;
    if let Some(row) = app.state::<KeyCache>().get(id) {
        return Ok(Some(row));
    }
    let _permit = app.state::<Limits>().addresses.lookup_permit(remote, app.clock.now()).await;
    let read_at = app.state::<KeyCache>().begin_read();
    let row = if session::is_session(id) {
        session::find(app, credential).await?
    } else {
        store::find_key(&app.db.reserved(), id).await?
    };
    let row = row.map(Arc::new);
    if let Some(row) = &row {
        app.state::<KeyCache>().put(id.clone(), Arc::clone(row), read_at);
    }
    Ok(row)
}

/// Stores the keys' latest uses, in batches: a write per request would cost too much.
async fn flush_uses(app: &App) -> Result<(), hub_db::Error> {
    let uses = app.state::<KeyCache>().take_uses();
    if uses.is_empty() {
        return Ok(());
    }
    for uses in uses.chunks(USES_AT_ONCE) {
        app.db
            .transaction(async |mut tx| {
                // In turn: rows of one transaction, which no request locks.
                for (network, id, at) in uses {
                    store::set_last_used(&mut tx, *network, id, *at).await?;
                }
                Ok::<_, hub_db::Error>(())
            })
            .await?;
    }
    Ok(())
}

#[cfg(test)]
mod counts;
