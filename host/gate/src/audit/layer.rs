//! Middleware of every route: records changes that a person makes through a connector's route, such as a punishment.
//! The services of those routes record nothing, because changes by connectors would fill the log.

use std::io;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use hub_db::{AmbientOutcome, Error, OnBegin};
use parking_lot::Mutex;
use serde_json::Value;

use crate::app::App;
use crate::audit::Action;
use crate::audit::record::{Change, record, record_alone};
use crate::auth::{Caller, Origin, is_by_key};
use crate::endpoints::RouteFacts;
use crate::http::error::ApiError;
use crate::http::extract::{JSON_LIMIT, read_body};
use crate::http::layers::Next;

const CONNECTORS: &str = "/api/plugin/";
/// Request bodies of these routes contain a server's sign-in codes.
const PROVISIONING: &str = "/api/plugin/provisioning/";

/// Serves a request and records the change if a person made it.
pub async fn layer(State(app): State<App>, request: Request, next: Next) -> Response {
    let facts = request.extensions().get::<RouteFacts>().copied().unwrap_or_default();
    let is_change = !request.method().is_safe() && !facts.is_read_only;
    if !is_change || is_by_key(request.headers()) || !request.uri().path().starts_with(CONNECTORS) {
        return next.run(request).await;
    }
    serve(&app, facts, request, next).await.unwrap_or_else(ApiError::into_response)
}

async fn serve(app: &App, facts: RouteFacts, request: Request, next: Next) -> Result<Response, ApiError> {
    let Some(authorize) = facts.authorize else { return Ok(next.run(request).await) };
    let (mut parts, body) = request.into_parts();
    // Unauthorized callers are rejected before the body is read.
    let caller = authorize.check(&mut parts, app).await?;
    let body = read_body(Request::from_parts(parts.clone(), body), JSON_LIMIT).await?;
    let is_shown = !parts.uri.path().starts_with(PROVISIONING);
    let sent = serde_json::from_slice::<Value>(&body).ok().filter(|_| is_shown);
    let change = Change::new(Action::PluginCalled, format!("{} {}", parts.method, parts.uri.path())).after(sent);
    let entry = Entry { app, origin: caller.origin(app), caller, change };
    let run = || next.clone().run(Request::from_parts(parts.clone(), Body::from(body.clone())));
    if hub_db::is_in_ambient_transaction() {
        // Response stored for its `Idempotency-Key`.
        let response = run().await;
        if response.status().is_success() && hub_db::has_uncommitted_writes() {
            entry.write_alone().await?;
        }
        Ok(response)
    } else if facts.is_in_database() {
        entry.write_with(run).await
    } else {
        // Before it happens: afterwards nothing could take it back. The entry is also there if the route refuses it.
        entry.write_alone().await?;
        Ok(run().await)
    }
}

/// Entry of a request.
struct Entry<'a> {
    app: &'a App,
    caller: Caller,
    origin: Origin,
    change: Change,
}

impl Entry<'_> {
    async fn write_alone(&self) -> Result<(), Error> {
        record_alone(&self.app.db, self.caller.network, &self.origin, self.change.clone()).await
    }

    /// Runs a request and writes its entry in one transaction. No entry is written if the request wrote nothing.
    async fn write_with<F: Future<Output = Response> + Send>(
        &self,
        run: impl Fn() -> F + Sync,
    ) -> Result<Response, ApiError> {
        let on_begin: OnBegin = Arc::new(|_| async { Ok(true) }.boxed());
        // Kept outside the transaction's result: a response cannot be shared between threads.
        let response = Mutex::new(None);
        let work = || async {
            let done = run().await;
            let is_success = done.status().is_success();
            *response.lock() = Some(done);
            is_success
        };
        let ended = self.app.db.ambient_transaction(on_begin, work, |tx, is_success| {
            let entry = is_success.then(|| (self.origin.clone(), self.change.clone()));
            let network = self.caller.network;
            async move {
                if let Some((origin, change)) = entry {
                    record(tx, network, &origin, change).await?;
                }
                Ok(true)
            }
            .boxed()
        });
        let ended = ended.await?;
        let response = response.into_inner().filter(|_| !matches!(ended, AmbientOutcome::Cancelled));
        response.ok_or_else(|| ApiError::internal(io::Error::other("a request has no response")))
    }
}
