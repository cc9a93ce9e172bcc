//! The way of a request: its checks in their order, then the module.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request as HttpRequest;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::Response as HttpResponse;
use hub_core::http::extract::read_body;
use hub_sandbox::contract::endpoints::{Caller, CallerKind, Request};
use serde_json::Value;

use super::call::{Ended, EndpointCall, repeat, unavailable};
use super::key;
use super::message::{self, to_http};
use super::secrets;
use super::signature;
use super::state::{self, EndpointState, NetworkEndpoints, ServedEndpoint};
use super::store;
use super::table::{self, Found, Parameters};
use crate::app::App;
use crate::compute::compute_if;
use crate::http::error::ApiError;
use crate::limits::{self, Limits};
use crate::values::{NetworkId, hex};

/// Maximum size of a request's body.
const MAX_BODY: usize = 64 << 10;
/// Size of a body that is checked in some hundred microseconds, whatever its schema.
const QUICK_BODY: usize = 256;
/// Requests a minute from one address to a public endpoint.
const RATE_PER_MINUTE: u32 = 60;
/// Time for which a request waits for other calls of its network.
const PLACE_WAIT: Duration = Duration::from_secs(5);

/// Refusal of what is not there, and of what the caller must not know of: one answer for all.
pub(super) fn unknown() -> ApiError {
    ApiError::not_found("unknown_endpoint", "No such endpoint.")
}

/// Serves a request. The caller is that of a key; without one, the route is public.
pub(super) async fn serve(
    app: &App,
    network: NetworkId,
    module: &str,
    path: &str,
    caller: Option<Caller>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let is_public = caller.is_none();
    let endpoints = state::of(app, network).await?.ok_or_else(unknown)?;
    let of_module = endpoints.routes.iter().filter(|route| route.module == module);
    let offered = of_module.filter(|route| !is_public || route.endpoint.public);
    let segments = table::segments(path).ok_or_else(unknown)?;
    let (served, parameters) = match table::find(offered, request.method().as_str(), &segments) {
        Found::Endpoint(served, parameters) => (served, parameters),
        Found::OtherMethod => {
            let message = "The endpoint does not support this method.";
            return Err(ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message));
        }
        Found::Nothing => return Err(unknown()),
    };
    let (mut parts, body) = request.into_parts();
    if is_public {
        count(app, network, served, &mut parts).await?;
    }
    let body = read_body(HttpRequest::from_parts(parts.clone(), body), MAX_BODY).await?;
    let sent = Sent { network, path, parameters, parts: &parts, body: &body };
    answer(app, &endpoints, served, caller, sent).await
}

/// Counts a public request for its address, and for its network's plan.
async fn count(app: &App, network: NetworkId, served: &ServedEndpoint, parts: &mut Parts) -> Result<(), ApiError> {
    let remote = limits::remote_address(&parts.extensions);
    let rate = served.endpoint.rate_per_minute.unwrap_or(RATE_PER_MINUTE);
    let of = (network, served.module.as_str(), served.endpoint.name.as_str());
    app.state::<Limits>().addresses.count_endpoint(remote, of, rate, app.clock.now())?;
    limits::count_public_request(app, parts, network).await
}

/// A request whose endpoint is known.
struct Sent<'a> {
    network: NetworkId,
    path: &'a str,
    parameters: Parameters,
    parts: &'a Parts,
    body: &'a [u8],
}

async fn answer(
    app: &App,
    endpoints: &NetworkEndpoints,
    served: &ServedEndpoint,
    caller: Option<Caller>,
    sent: Sent<'_>,
) -> Result<HttpResponse, ApiError> {
    let (endpoint, headers, network) = (&served.endpoint, &sent.parts.headers, sent.network);
    let caller = match (caller, &endpoint.signature) {
        (Some(caller), _) => caller,
        (None, None) => Caller::default(),
        (None, Some(signature)) => {
            let secrets = secrets::values(app, sent.network, signature.secret()).await?;
            if !signature::is_good(signature, &secrets, headers, sent.body, app.clock.now()) {
                let message = "The request is not signed as this endpoint asks for.";
                return Err(ApiError::new(StatusCode::UNAUTHORIZED, "invalid_signature", message));
            }
            secrets::note_use(app, sent.network, signature.secret());
            Caller { kind: CallerKind::Signed, ..Caller::default() }
        }
    };
    let target = sent.parts.uri.path_and_query().map_or("", |target| target.as_str());
    let key = key::of(endpoint, caller.kind, headers, target, sent.body)?;
    compute_if(sent.body.len() > QUICK_BODY, || check_body(served, sent.body)).await?;
    let link = served.link.as_ref().ok_or_else(unavailable)?;
    let remote = limits::remote_address(&sent.parts.extensions);
    let request = Request {
        endpoint: endpoint.name.clone(),
        method: endpoint.method.name().to_owned(),
        path: sent.path.to_owned(),
        parameters: sent.parameters,
        query: message::query(&sent.parts.uri)?,
        headers: message::headers(endpoint, headers),
        body: sent.body.to_vec(),
        dedupe: key.as_ref().map(|key| key.text.clone()),
        caller,
        address_hash: secrets::address_hash(app, sent.network, remote),
        address: served.grants.scopes.iter().any(|scope| scope == "players:ip").then(|| remote.to_string()),
    };
    let call = EndpointCall { app, network: sent.network, served, link, request: Arc::new(request), key: key.as_ref() };
    let _lock = match &key {
        Some(key) => {
            let locked = app.state::<EndpointState>().keys.lock((sent.network, lock_name(served, key)));
            Some(tokio::time::timeout(PLACE_WAIT, locked).await.map_err(|_| busy())?)
        }
        None => None,
    };
    loop {
        let mut adding = None;
        if let Some(key) = &key {
            if let Some(kept) = store::find(&app.db, call.key_of(key), app.clock.cutoff()).await? {
                return to_http(network, repeat(&kept, key)?);
            }
            let is_there = std::future::ready(Ok(false));
            adding = Some(limits::check_rows::<ApiError>(app, sent.network, store::ROWS, 1, is_there).await?);
        }
        let place = tokio::time::timeout(PLACE_WAIT, endpoints.calls.acquire()).await;
        let Ok(Ok(_place)) = place else { return Err(busy()) };
        match call.run().await? {
            Ended::Answer(response) => return to_http(network, response),
            Ended::AnsweredBefore => drop(adding),
        }
    }
}

fn busy() -> ApiError {
    let message = "Too many requests to this network's endpoints are under way; try again.";
    ApiError::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message).retry_after(1)
}

/// Keys of different endpoints are different keys.
fn lock_name(served: &ServedEndpoint, key: &key::RequestKey) -> Vec<u8> {
    [served.module.as_bytes(), b"\0", served.endpoint.name.as_bytes(), b"\0", &key.sha256].concat()
}

/// Checks a body against the manifest's schema.
fn check_body(served: &ServedEndpoint, body: &[u8]) -> Result<(), ApiError> {
    let Some(schema) = &served.endpoint.request else { return Ok(()) };
    let value: Value =
        serde_json::from_slice(body).map_err(|error| ApiError::invalid(format!("The body must be JSON: {error}.")))?;
    schema.check(&value).map_err(|invalid| {
        let place = if invalid.pointer.is_empty() { String::new() } else { format!(", `{}`", invalid.pointer) };
        ApiError::invalid(format!("In the body{place}: {}.", invalid.reason))
    })
}

/// Text by which addresses are told apart.
pub(super) fn short(digest: &[u8]) -> String {
    hex(digest.get(..8).unwrap_or(digest))
}
