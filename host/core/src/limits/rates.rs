//! Rates of requests and events: counted after the check of key and scopes, and reported in response headers.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::request::Parts;
use axum::http::{Extensions, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use parking_lot::Mutex;

use crate::app::App;
use crate::clock::Millis;
use crate::http::error::ApiError;
use crate::http::layers::Next;
use crate::http::rate_limit::{self, RateState};
use crate::limits::Limits;
use crate::limits::plan::Rates;
use crate::limits::state::NetworkState;
use crate::limits::token_bucket::{Rate, TokenBucket};
use crate::values::NetworkId;

/// Request extension: the route needs no key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PublicRoute;

/// Request extension: id of the valid key, person or session that a request to a public route is counted by.
#[derive(Clone, Debug)]
pub(crate) struct KnownCaller(pub(crate) String);

/// Request extension: the route publishes an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PublishingRoute;

/// Request extension: the request was counted. A layer may check a request before its handler does.
#[derive(Clone, Copy, Debug)]
struct Counted;

/// Request extension: receives the rates for the response.
#[derive(Clone, Debug, Default)]
struct RatesOfResponse(Arc<Mutex<Vec<RateState>>>);

/// Refuses requests to public routes from an address that sends too many, and adds the rates of other requests to
/// their responses.
pub async fn layer(State(app): State<App>, mut request: Request, next: Next) -> Response {
    if request.extensions().get::<PublicRoute>().is_some() {
        return public_layer(State(app), request, next).await;
    }
    if !app.state::<Limits>().has_rates() {
        return next.run(request).await;
    }
    let rates = RatesOfResponse::default();
    request.extensions_mut().insert(rates.clone());
    let mut response = next.run(request).await;
    rate_limit::write(&rates.0.lock(), response.headers_mut());
    response
}

/// Refuses requests to routes without a key from an address that sends too many. Whoever has a valid key or session is
/// counted alone: many people may share an address.
pub async fn public_layer(State(app): State<App>, request: Request, next: Next) -> Response {
    let (addresses, now) = (&app.state::<Limits>().addresses, app.clock.now());
    let counted = match request.extensions().get::<KnownCaller>() {
        Some(KnownCaller(caller)) => addresses.count_known(caller, now),
        None => addresses.count_public(remote_address(request.extensions()), now),
    };
    match counted {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

/// Refuses requests to pages from an address that sends too many: each page is rendered for it, also for a stranger. The
/// requests that a page makes are counted by their routes.
pub async fn page_layer(State(app): State<App>, request: Request, next: Next) -> Response {
    let (addresses, now) = (&app.state::<Limits>().addresses, app.clock.now());
    let remote = remote_address(request.extensions());
    let mut counted = addresses.count_page(remote, now);
    if counted.is_ok() && is_search(request.uri()) {
        counted = addresses.count_search(remote, now);
    }
    match counted {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

/// True for a search in the documentation.
fn is_search(uri: &Uri) -> bool {
    let is_documentation = uri.path() == "/api" || uri.path().starts_with("/docs/");
    is_documentation && uri.query().is_some_and(|query| !query.is_empty())
}

/// Client address of a request.
pub fn remote_address(extensions: &Extensions) -> IpAddr {
    let remote = extensions.get::<ConnectInfo<SocketAddr>>();
    remote.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |ConnectInfo(address)| address.ip().to_canonical())
}

/// Counts an authorized request once; refused if its key or network exceeds a rate.
pub(crate) async fn count_request(
    app: &App,
    parts: &mut Parts,
    network: NetworkId,
    key_id: &str,
) -> Result<(), ApiError> {
    let state = app.state::<Limits>().current(app, network).await?;
    let Some(rates) = state.plan().rates else { return Ok(()) };
    if parts.extensions.get::<Counted>().is_some() {
        return Ok(());
    }
    parts.extensions.insert(Counted);
    let publishes = parts.extensions.get::<PublishingRoute>().is_some();
    let mut states = vec![];
    let counted = take(app, &state, rates, key_id, publishes, &mut states);
    match parts.extensions.get::<RatesOfResponse>() {
        Some(response) => response.0.lock().clone_from(&states),
        None => app.state::<Limits>().note_rates(),
    }
    counted.map_err(|refused| refusal(refused.message, refused.retry_after, states))
}

/// Counts a request of a stranger to one of the network's own routes. Strangers use up nothing of what its servers have.
pub async fn count_public_request(app: &App, parts: &mut Parts, network: NetworkId) -> Result<(), ApiError> {
    let state = app.state::<Limits>().current(app, network).await?;
    let Some(rate) = state.plan().rates.and_then(|rates| rates.requests) else { return Ok(()) };
    if parts.extensions.get::<Counted>().is_some() {
        return Ok(());
    }
    parts.extensions.insert(Counted);
    let (message, mut states) = ("This network's public endpoints exceed the request rate of its plan.", vec![]);
    let counted = take_one("network", rate, &state.public_requests, message, app.clock.now(), &mut states);
    counted.map_err(|refused| refusal(refused.message, refused.retry_after, states))
}

struct Refused {
    message: &'static str,
    retry_after: i64,
}

fn take(
    app: &App,
    state: &NetworkState,
    rates: Rates,
    key_id: &str,
    publishes: bool,
    states: &mut Vec<RateState>,
) -> Result<(), Refused> {
    let now = app.clock.now();
    let mut take = |policy, rate, bucket: &TokenBucket, message| take_one(policy, rate, bucket, message, now, states);
    // The key first: a key's excess must not reduce the quota of the network's other keys.
    if let Some(rate) = rates.key_requests {
        let bucket = app.state::<Limits>().key_bucket(key_id);
        take("key", rate, &bucket, "This key exceeds the request rate of its network's plan.")?;
    }
    if let Some(rate) = rates.requests {
        let message = "This network exceeds the request rate of its plan.";
        take("network", rate, &state.requests, message)?;
    }
    if let Some(rate) = rates.events.filter(|_| publishes) {
        let message = "This network exceeds the event rate of its plan.";
        take("events", rate, &state.events, message)?;
    }
    Ok(())
}

fn take_one(
    policy: &'static str,
    rate: Rate,
    bucket: &TokenBucket,
    message: &'static str,
    now: Millis,
    states: &mut Vec<RateState>,
) -> Result<(), Refused> {
    let taken = bucket.take(rate, now);
    let (Ok(level) | Err(level)) = taken;
    states.push(rate.state(policy, level));
    taken.map(drop).map_err(|level| Refused { message, retry_after: level.next_in })
}

/// 429 with the rates that caused the refusal.
pub(super) fn refusal(message: &'static str, retry_after: i64, rates: Vec<RateState>) -> ApiError {
    ApiError::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message)
        .retry_after(retry_after.unsigned_abs())
        .rates(rates)
}
