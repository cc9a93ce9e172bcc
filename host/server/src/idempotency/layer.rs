//! Around every route: looks a key up, has the work done once, gives the answer again.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, request::Parts};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use hub_db::AmbientOutcome;
use moka::sync::Cache;
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};
use utoipa::openapi::{OpenApi, RefOr};

use crate::app::App;
use crate::auth::Caller;
use crate::auth::Scope;
use crate::endpoints::RouteFacts;
use crate::http::error::ApiError;
use crate::http::extract::{JSON_LIMIT, at_most, in_time};
use crate::idempotency::answer::Answer;
use crate::idempotency::body::Spooled;
use crate::idempotency::store::{self, Use};
use crate::idempotency::{KEPT, SECRETS, forgotten};
use crate::keyed_lock::KeyedLock;
use crate::values::NetworkId;

/// The content type of routes that take a small body.
const JSON: &str = "application/json";
/// The most any other route takes.
const MOST: usize = 512 * 1024 * 1024;
/// The longest key.
const LONGEST: usize = 255;

/// What the layer needs to know.
#[derive(Clone)]
pub(crate) struct Guard {
    app: App,
    /// Held by the request that is at work under a key, in this process. Between nodes the database decides.
    locks: KeyedLock<(NetworkId, String)>,
    /// Answers that are not to be written down.
    secrets: Cache<(NetworkId, String), Answer>,
    posts: Arc<HashMap<String, Post>>,
}

/// A route that takes a key.
struct Post {
    /// A repeat needs them as the first did.
    scopes: Vec<Scope>,
    /// The largest body, in bytes.
    most: usize,
}

impl Guard {
    /// A guard for the routes of `document`.
    pub(crate) fn new(app: &App, document: &OpenApi) -> Self {
        let secrets = Cache::builder().max_capacity(SECRETS).time_to_live(KEPT).build();
        let posts = document.paths.paths.iter().filter_map(|(path, item)| {
            let security = serde_json::to_value(item.post.as_ref()?.security.as_ref()?).ok()?;
            let scopes = security.as_array()?.iter().filter_map(|one| one["apiKey"].as_array()).flatten();
            let scopes = scopes.filter_map(|scope| scope.as_str()?.parse().ok()).collect();
            let most = match &item.post.as_ref()?.request_body {
                Some(RefOr::T(body)) if !body.content.contains_key(JSON) => MOST,
                _ => JSON_LIMIT,
            };
            Some((path.clone(), Post { scopes, most }))
        });
        Self { app: app.clone(), locks: KeyedLock::default(), secrets, posts: Arc::new(posts.collect()) }
    }
}

/// Serves a POST with an `Idempotency-Key` once.
pub(crate) async fn layer(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    if request.method() != Method::POST || !request.headers().contains_key("idempotency-key") {
        return next.run(request).await;
    }
    guarded(&guard, request, next).await.unwrap_or_else(ApiError::into_response)
}

async fn guarded(guard: &Guard, request: Request, next: Next) -> Result<Response, ApiError> {
    let facts = request.extensions().get::<RouteFacts>().copied().unwrap_or_default();
    let route = request.extensions().get::<MatchedPath>().map_or(String::new(), |path| path.as_str().to_owned());
    // A route that takes no key, or not this one, says so itself.
    let Some(post) = guard.posts.get(&route) else { return Ok(next.run(request).await) };
    let announced = at_most(&request, post.most);
    let (parts, body) = request.into_parts();
    let Ok(caller) = Caller::identify(&parts, &guard.app).await else {
        return Ok(next.run(Request::from_parts(parts, body)).await);
    };
    if caller.require(&post.scopes).is_err() {
        return Ok(next.run(Request::from_parts(parts, body)).await);
    }
    let key = key_of(&parts)?;
    let mut digest = Sha256::new();
    let target = parts.uri.path_and_query().map_or("", |target| target.as_str());
    digest.update(target.len().to_be_bytes());
    digest.update(target);
    announced?;
    // One after the other: each key is its own, so this is no request's.
    let large = guard.locks.lock((caller.network, String::new()));
    let body = in_time(Spooled::read(body, post.most, &mut digest, large)).await?;
    let now = guard.app.clock.now();
    let of = Use {
        network: caller.network,
        key,
        fingerprint: digest.finalize().to_vec(),
        at: now,
        forgotten: forgotten(now),
    };
    let _lock = guard.locks.lock((of.network, of.key.clone())).await;
    loop {
        if let Some(kept) = store::find(&guard.app.db, &of).await? {
            if kept.fingerprint != of.fingerprint {
                return Err(ApiError::bad_request(
                    "idempotency_mismatch",
                    "This Idempotency-Key was used for another path or body in the last 24 hours; a new request needs a \
                     new key.",
                ));
            }
            let remembered = kept.answer.is_withheld().then(|| guard.secrets.get(&(of.network, of.key.clone())));
            return Ok(remembered.flatten().unwrap_or(kept.answer).replay());
        }
        let attempt = Attempt { guard, of: &of, parts: &parts, body: &body, next: &next, secret: facts.is_secret };
        let done = if facts.is_transactional { attempt.in_one_transaction().await? } else { attempt.alone().await? };
        // None where another hub node was quicker: its answer counts.
        if let Some(response) = done {
            return Ok(response);
        }
    }
}

fn key_of(parts: &Parts) -> Result<String, ApiError> {
    let mut sent = parts.headers.get_all("idempotency-key").iter();
    match (sent.next().and_then(|value| value.to_str().ok()), sent.next()) {
        (Some(key), None) if (1..=LONGEST).contains(&key.len()) => Ok(key.to_owned()),
        _ => Err(ApiError::invalid(format!(
            "The header Idempotency-Key must be there once, with 1 to {LONGEST} printable ASCII characters."
        ))),
    }
}

/// One attempt at the work.
struct Attempt<'a> {
    guard: &'a Guard,
    of: &'a Use,
    parts: &'a Parts,
    body: &'a Spooled,
    next: &'a Next,
    /// The answer holds a secret.
    secret: bool,
}

impl Attempt<'_> {
    async fn run(&self) -> Result<(Answer, Response), ApiError> {
        let body = self.body.body().await.map_err(ApiError::internal)?;
        Answer::of(self.next.clone().run(Request::from_parts(self.parts.clone(), body)).await).await
    }

    /// What is written down of an answer.
    fn written(&self, answer: &Answer) -> Answer {
        if self.secret && answer.status < 300 { Answer::withheld() } else { answer.clone() }
    }

    /// Remembers an answer that is not written down.
    fn remember(&self, answer: Answer) {
        if self.secret && answer.status < 300 {
            self.guard.secrets.insert((self.of.network, self.of.key.clone()), answer);
        }
    }

    /// Does the work, then writes the answer down.
    async fn alone(&self) -> Result<Option<Response>, ApiError> {
        let (answer, response) = self.run().await?;
        self.keep(answer, response).await
    }

    async fn keep(&self, answer: Answer, response: Response) -> Result<Option<Response>, ApiError> {
        if answer.is_final() {
            if !store::keep(&self.guard.app.db, self.of, &self.written(&answer)).await? {
                return Ok(None);
            }
            self.remember(answer);
        }
        Ok(Some(response))
    }

    /// Does the work in one transaction with taking the key and writing the answer down.
    async fn in_one_transaction(&self) -> Result<Option<Response>, ApiError> {
        let claimed = self.of.clone();
        let opening: hub_db::OnBegin = Arc::new(move |tx| {
            let of = claimed.clone();
            async move { store::claim(tx, &of).await }.boxed()
        });
        // The response itself cannot be shared between threads, as the closing would have to.
        let response = Mutex::new(None);
        let work = || async {
            let (answer, done) = self.run().await?;
            *response.lock() = Some(done);
            Ok::<_, ApiError>(answer)
        };
        let ended = self
            .guard
            .app
            .db
            .ambient_transaction(opening, work, |tx, done: &Result<Answer, ApiError>| {
                let (of, answer) = (self.of.clone(), done.as_ref().ok().filter(|answer| answer.is_final()));
                let answer = answer.map(|answer| self.written(answer));
                async move {
                    if let Some(answer) = &answer {
                        store::answer(tx, &of, answer).await?;
                    }
                    Ok(answer.is_some())
                }
                .boxed()
            })
            .await?;
        let (answer, settled) = match ended {
            AmbientOutcome::Cancelled => return Ok(None),
            AmbientOutcome::Finished(answer) => (answer?, true),
            AmbientOutcome::NotBegun(answer) => (answer?, false),
        };
        let Some(response) = response.into_inner() else { return Ok(None) };
        if !settled {
            return self.keep(answer, response).await;
        }
        self.remember(answer);
        Ok(Some(response))
    }
}
