//! Layer around every route: looks up the key, runs the request once, repeats its response.

use std::collections::HashMap;
use std::future::ready;
use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, request::Parts};
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use hub_db::{AmbientOutcome, Error};
use moka::sync::Cache;
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};
use utoipa::openapi::{OpenApi, RefOr};

use crate::app::App;
use crate::auth::{Bindings, Caller, KeyId};
use crate::endpoints::RouteFacts;
use crate::http::error::ApiError;
use crate::http::extract::{JSON_LIMIT, at_most};
use crate::http::layers::Next;
use crate::idempotency::buffered_body::BufferedBody;
use crate::idempotency::store::{self, KeyUse};
use crate::idempotency::stored_response::StoredResponse;
use crate::idempotency::{TTL, expired_at};
use crate::keyed_lock::KeyedLock;
use crate::limits::{self, Limit, check_rows};
use crate::values::{NetworkId, hex};

/// Content type of routes with a small body.
const JSON: &str = "application/json";
/// Maximum body size of other routes.
const MAX_BODY: usize = 512 * 1024 * 1024;
const MAX_KEY: usize = 255;
/// Maximum number of remembered responses with a secret.
const MAX_SECRETS: u64 = 1_000;

/// State of the layer.
#[derive(Clone)]
pub struct LayerState {
    app: App,
    /// Held while a request runs under its key in this process. Between nodes the database decides.
    locks: KeyedLock<(NetworkId, String)>,
    /// Responses that must not be stored, each with the only API key that may get it again.
    secrets: Cache<(NetworkId, String, String), (KeyId, StoredResponse)>,
    routes: Arc<HashMap<String, Route>>,
}

/// Route that accepts a key.
struct Route {
    /// Maximum body size in bytes.
    max_body: usize,
}

impl LayerState {
    /// State for the routes of `document`.
    pub fn new(app: &App, document: &OpenApi) -> Self {
        let secrets = Cache::builder().max_capacity(MAX_SECRETS).time_to_live(TTL).build();
        let routes = document.paths.paths.iter().filter_map(|(path, item)| {
            let max_body = match &item.post.as_ref()?.request_body {
                Some(RefOr::T(body)) if !body.content.contains_key(JSON) => MAX_BODY,
                _ => JSON_LIMIT,
            };
            Some((path.clone(), Route { max_body }))
        });
        Self { app: app.clone(), locks: KeyedLock::default(), secrets, routes: Arc::new(routes.collect()) }
    }
}

/// Runs a POST with an `Idempotency-Key` once.
pub async fn layer(State(state): State<LayerState>, request: Request, next: Next) -> Response {
    if request.method() != Method::POST || !request.headers().contains_key("idempotency-key") {
        return next.run(request).await;
    }
    run_once(&state, request, next).await.unwrap_or_else(ApiError::into_response)
}

async fn run_once(state: &LayerState, request: Request, next: Next) -> Result<Response, ApiError> {
    let facts = request.extensions().get::<RouteFacts>().copied().unwrap_or_default();
    if facts.is_read_only || facts.is_repeatable {
        return Ok(next.run(request).await);
    }
    let path = request.extensions().get::<MatchedPath>().map_or(String::new(), |path| path.as_str().to_owned());
    // Other routes ignore the key, and the route itself refuses unauthorized callers.
    let (Some(route), Some(authorize)) = (state.routes.get(&path), facts.authorize) else {
        return Ok(next.run(request).await);
    };
    let announced = at_most(&request, route.max_body);
    let (mut parts, body) = request.into_parts();
    // A repetition is checked like the first request.
    let caller = authorize.check(&mut parts, &state.app).await?;
    let key = key_of(&parts)?;
    announced?;
    let mut digest = Sha256::new();
    let target = parts.uri.path_and_query().map_or("", |target| target.as_str());
    digest.update(target.len().to_be_bytes());
    digest.update(target);
    // One large body of a network at a time; no request has the empty key.
    let permit = state.locks.lock((caller.network, String::new()));
    let body = BufferedBody::read(body, route.max_body, &mut digest, permit).await?;
    let key_use = KeyUse {
        network: caller.network,
        key,
        rights: rights_of(&caller),
        fingerprint: digest.finalize().to_vec(),
        at: state.app.clock.now(),
        expired_at: expired_at(&state.app),
    };
    let _lock = state.locks.lock((key_use.network, key_use.key.clone())).await;
    let mut is_counted = false;
    let mut adding = None;
    loop {
        if let Some(earlier) = store::find(&state.app.db, &key_use).await? {
            if earlier.fingerprint != key_use.fingerprint {
                return Err(ApiError::bad_request(
                    "idempotency_mismatch",
                    "This Idempotency-Key was used for another path or body in the last 24 hours; use a new key for \
                     a new request.",
                ));
            }
            let response = earlier.response;
            let remembered = response
                .is_withheld()
                .then(|| state.secrets.get(&(key_use.network, key_use.key.clone(), earlier.rights)));
            let own = remembered.flatten().filter(|(by, _)| *by == caller.key).map(|(_, response)| response);
            let response = response.opened(&state.app, key_use.network).await?;
            return Ok(own.unwrap_or(response).replay());
        }
        if !std::mem::replace(&mut is_counted, true) {
            let kept = check_rows::<ApiError>(&state.app, key_use.network, store::KEYS, 1, ready(Ok(false))).await?;
            adding.get_or_insert(kept);
        }
        let (is_secret, by) = (facts.is_secret, &caller.key);
        let attempt = Attempt { state, key_use: &key_use, parts: &parts, body: &body, next: &next, is_secret, by };
        let response =
            if facts.is_transactional { attempt.run_in_transaction().await? } else { attempt.run_and_store().await? };
        // None if another node took the key first: its response counts.
        if let Some(response) = response {
            return Ok(response);
        }
    }
}

/// Fingerprint of a caller's rights. Another request by a caller with other rights does not use up a key, so that a narrow
/// API key cannot keep payments from being made; the same request is a repeat whoever sends it.
fn rights_of(caller: &Caller) -> String {
    let Bindings { servers, addresses } = &caller.bindings;
    let rights = (caller.scopes.to_text(), servers, addresses.as_ref().map(|ranges| format!("{ranges:?}")));
    hex(&Sha256::digest(format!("{rights:?}"))[..8])
}

fn key_of(parts: &Parts) -> Result<String, ApiError> {
    let mut sent = parts.headers.get_all("idempotency-key").iter();
    match (sent.next().and_then(|value| value.to_str().ok()), sent.next()) {
        (Some(key), None) if (1..=MAX_KEY).contains(&key.len()) => Ok(key.to_owned()),
        _ => Err(ApiError::invalid(format!(
            "The header Idempotency-Key must occur once, with 1 to {MAX_KEY} printable ASCII characters."
        ))),
    }
}

/// Attempt to run a request under its key. Returns none if another node took the key first.
struct Attempt<'a> {
    state: &'a LayerState,
    key_use: &'a KeyUse,
    parts: &'a Parts,
    body: &'a BufferedBody,
    next: &'a Next,
    is_secret: bool,
    /// The API key.
    by: &'a KeyId,
}

impl Attempt<'_> {
    async fn run(&self) -> Result<(StoredResponse, Response), ApiError> {
        let body = self.body.body().await.map_err(ApiError::internal)?;
        StoredResponse::read(self.next.clone().run(Request::from_parts(self.parts.clone(), body)).await).await
    }

    fn holds_secret(&self, response: &StoredResponse) -> bool {
        self.is_secret && response.status < 300
    }

    /// Form of a response to store.
    fn storable(&self, response: &StoredResponse) -> Result<StoredResponse, Error> {
        Ok(if self.holds_secret(response) {
            StoredResponse::withheld()
        } else if response.body.len() as i64 > limits::bound(&self.state.app, Limit::KeptAnswerBytes) {
            StoredResponse::too_large()
        } else {
            response.clone().sealed(&self.state.app, self.key_use.network)?
        })
    }

    /// Remembers a response with a secret, which must not be stored.
    fn remember(&self, response: StoredResponse) {
        if self.holds_secret(&response) {
            let KeyUse { network, key, rights, .. } = self.key_use;
            self.state.secrets.insert((*network, key.clone(), rights.clone()), (self.by.clone(), response));
        }
    }

    /// Runs the request, then stores its response.
    async fn run_and_store(&self) -> Result<Option<Response>, ApiError> {
        let (stored, response) = self.run().await?;
        self.store(stored, response).await
    }

    async fn store(&self, stored: StoredResponse, response: Response) -> Result<Option<Response>, ApiError> {
        if stored.is_final() {
            if !store::claim(&self.state.app.db, self.key_use, &self.storable(&stored)?).await? {
                return Ok(None);
            }
            self.remember(stored);
        }
        Ok(Some(response))
    }

    /// Claims the key, runs the request and stores the response in one transaction.
    async fn run_in_transaction(&self) -> Result<Option<Response>, ApiError> {
        let key_use = self.key_use.clone();
        let opening: hub_db::OnBegin = Arc::new(move |tx| {
            let key_use = key_use.clone();
            async move { store::claim(tx, &key_use, &StoredResponse::default()).await }.boxed()
        });
        // Kept outside the transaction's result: a response cannot be shared between threads, as required by its
        // closing.
        let response = Mutex::new(None);
        let work = || async {
            let (stored, done) = self.run().await?;
            *response.lock() = Some(done);
            Ok::<_, ApiError>(stored)
        };
        let ended = self
            .state
            .app
            .db
            .ambient_transaction(opening, work, |tx, done: &Result<StoredResponse, ApiError>| {
                let key_use = self.key_use.clone();
                let stored = done.as_ref().ok().filter(|stored| stored.is_final()).map(|stored| self.storable(stored));
                async move {
                    let stored = stored.transpose()?;
                    if let Some(stored) = &stored {
                        store::set_response(tx, &key_use, stored).await?;
                    }
                    Ok(stored.is_some())
                }
                .boxed()
            })
            .await?;
        let (stored, settled) = match ended {
            AmbientOutcome::Cancelled => return Ok(None),
            AmbientOutcome::Finished(stored) => (stored?, true),
            AmbientOutcome::NotBegun(stored) => (stored?, false),
        };
        let Some(response) = response.into_inner() else { return Ok(None) };
        if !settled {
            return self.store(stored, response).await;
        }
        self.remember(stored);
        Ok(Some(response))
    }
}
