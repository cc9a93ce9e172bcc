//! Finds the key behind a request, and checks it again later.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;

use crate::app::App;
use crate::auth::model::{ActiveKey, Credential, KeyId, KeyRow, Scope, Scopes};
use crate::auth::{key, revocation, store};
use crate::background;
use crate::clock::Millis;
use crate::http::error::ApiError;

const FLUSH_INTERVAL: Duration = Duration::from_secs(10);
/// Keys whose use is stored by one transaction.
const USES_AT_ONCE: usize = 200;

/// Starts the background work.
pub(crate) fn start(app: &App) {
    revocation::start(app);
    background::every(app, FLUSH_INTERVAL, "store when keys were used", |app| async move { flush_uses(&app).await });
}

/// The key that the header's value names: 401 unless it is valid, 403 where its network is suspended.
pub(crate) async fn authenticate(app: &App, header: Option<&[u8]>, remote: IpAddr) -> Result<ActiveKey, ApiError> {
    let header =
        header.ok_or_else(|| unauthenticated("No API key was sent; put it in the X-Service-Api-Key header."))?;
    let malformed =
        || unauthenticated("This is not an API key; a key reads hub_<id>_<secret>. Was it cut or mistyped?");
    let text = std::str::from_utf8(header).map_err(|_| malformed())?;
    let id = key::parse(text).ok_or_else(malformed)?;
    let credential = Credential { id, sha256: key::hash(text) };
    let row =
        find_key(app, &credential.id, remote).await?.ok_or_else(|| unauthenticated("This API key is unknown."))?;
    let now = app.clock.now();
    check(&row, &credential, now)?;
    app.keys.record_use(row.network_id, &credential.id, now);
    let scopes = Scopes::from_text(&row.scopes);
    let (bindings, expires_at) = (row.bindings(), row.expires_at);
    Ok(ActiveKey { network: row.network_id, id: credential.id.clone(), credential, scopes, bindings, expires_at })
}

/// Which of these credentials no longer allow `scope`, in one query for all.
pub(crate) async fn revoked(
    app: &App,
    credentials: HashSet<&Credential>,
    scope: Scope,
) -> Result<HashSet<Credential>, hub_db::Error> {
    if credentials.is_empty() {
        return Ok(HashSet::new());
    }
    let ids: HashSet<_> = credentials.iter().map(|credential| &credential.id).collect();
    let rows = store::find_keys(&app.db.reserved(), &ids.into_iter().collect::<Vec<_>>()).await?;
    let rows: HashMap<_, _> = rows.iter().map(|row| (&row.key_id, row)).collect();
    let now = app.clock.now();
    let is_valid = |credential: &Credential| {
        rows.get(&credential.id)
            .is_some_and(|row| check(row, credential, now).is_ok() && Scopes::from_text(&row.scopes).allow(scope))
    };
    Ok(credentials.into_iter().filter(|credential| !is_valid(credential)).cloned().collect())
}

/// 401 for a credential that is not, or no longer, the key's; 403 where its network is suspended.
fn check(row: &KeyRow, credential: &Credential, now: Millis) -> Result<(), ApiError> {
    let current = key::hashes_equal(&credential.sha256, &row.sha256);
    let previous = row.previous_sha256.as_ref().is_some_and(|previous| key::hashes_equal(&credential.sha256, previous))
        && row.previous_until.is_some_and(|until| now < until);
    if !current && !previous {
        return Err(unauthenticated("This API key is unknown."));
    }
    if row.revoked_at.is_some() {
        return Err(unauthenticated("This API key was revoked."));
    }
    if row.expires_at.is_some_and(|at| at <= now) {
        return Err(unauthenticated("This API key has expired."));
    }
    if row.suspended {
        return Err(ApiError::new(StatusCode::FORBIDDEN, "network_suspended", "This network is suspended."));
    }
    Ok(())
}

fn unauthenticated(message: &'static str) -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, "unauthenticated", message)
}

async fn find_key(app: &App, id: &KeyId, remote: IpAddr) -> Result<Option<Arc<KeyRow>>, hub_db::Error> {
    if let Some(row) = app.keys.get(id) {
        return Ok(Some(row));
    }
    let _permit = app.limits.addresses.lookup_permit(remote, app.clock.now()).await;
    let row = store::find_key(&app.db.reserved(), id).await?.map(Arc::new);
    if let Some(row) = &row {
        app.keys.put(row.clone());
    }
    Ok(row)
}

/// Stores when keys were last used, in batches: a write per request would cost too much.
pub(crate) async fn flush_uses(app: &App) -> Result<(), hub_db::Error> {
    let uses = app.keys.take_uses();
    if uses.is_empty() {
        return Ok(());
    }
    for uses in uses.chunks(USES_AT_ONCE) {
        app.db
            .transaction(async |mut tx| {
                for (network, id, at) in uses {
                    store::set_last_used(&mut tx, *network, id, *at).await?;
                }
                Ok::<_, hub_db::Error>(())
            })
            .await?;
    }
    Ok(())
}
