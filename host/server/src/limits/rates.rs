//! Requests and events a second: counted once the caller's key and scopes are checked, and told in the headers of the
//! response.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::request::Parts;
use axum::http::{Extensions, StatusCode};
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

/// On a request: its route needs no key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PublicRoute;

/// On a request: its route publishes an event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PublishingRoute;

/// On a request: it was counted. A layer may check a request before its handler does.
#[derive(Clone, Copy, Debug)]
struct Counted;

/// On a request: where its rates are put for the response.
#[derive(Clone, Debug, Default)]
struct RatesOfResponse(Arc<Mutex<Vec<RateState>>>);

/// Refuses requests to public routes of an address that sends too many, and writes the rates of others into their
/// responses.
pub(crate) async fn layer(State(app): State<App>, mut request: Request, next: Next) -> Response {
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

/// Refuses requests of an address that sends too many to routes that need no key.
pub(crate) async fn public_layer(State(app): State<App>, request: Request, next: Next) -> Response {
    match app.state::<Limits>().addresses.count_public(remote_address(request.extensions()), app.clock.now()) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

/// The address that a request came from.
pub(crate) fn remote_address(extensions: &Extensions) -> IpAddr {
    let remote = extensions.get::<ConnectInfo<SocketAddr>>();
    remote.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |ConnectInfo(address)| address.ip().to_canonical())
}

/// Counts a request whose caller may send it, once; refused where its key or its network is over a rate.
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
    // The key first: what one key sends too much of takes nothing from the network's others.
    if let Some(rate) = rates.key_requests {
        let bucket = app.state::<Limits>().key_bucket(key_id);
        take("key", rate, &bucket, "This key sends more requests a second than its network's plan allows.")?;
    }
    if let Some(rate) = rates.requests {
        let message = "This network sends more requests a second than its plan allows.";
        take("network", rate, &state.requests, message)?;
    }
    if let Some(rate) = rates.events.filter(|_| publishes) {
        let message = "This network publishes more events a second than its plan allows.";
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

/// 429 with the rates it was refused by.
pub(super) fn refusal(message: &'static str, retry_after: i64, rates: Vec<RateState>) -> ApiError {
    ApiError::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message)
        .retry_after(retry_after.unsigned_abs())
        .rates(rates)
}
