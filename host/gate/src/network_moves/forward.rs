//! Passes a request on to the hub to which its network has moved.

use std::net::SocketAddr;
use std::sync::OnceLock;
use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::extract::{ConnectInfo, Request};
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use futures_util::future::ready;
use futures_util::{StreamExt as _, TryStreamExt as _};
use http_body_util::BodyExt as _;

use crate::app::App;
use crate::http::error::ApiError;
use crate::http_client;
use crate::traces;

/// Response header: address of the hub that answered.
static MOVED_TO: HeaderName = HeaderName::from_static("hub-moved-to");
/// Request header: number of hubs that have passed it on.
static FORWARDED: HeaderName = HeaderName::from_static("hub-forwarded");
static FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
/// A network that moved further often is found, and hubs that point to each other, for a moment or for ever, end there.
const MAX_HOPS: u8 = 4;
/// Headers of one connection, and of what this hub has done with the request.
const OF_CONNECTION: &[&str] = &[
    "connection",
    "expect",
    "host",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-forwarded-for",
    "x-hub-from",
    "x-hub-node",
];
/// Bodies up to this size are buffered, so that they can be sent again where a connection was just closed.
const MAX_BUFFERED: u64 = 1 << 20;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
const KEEPALIVE: Duration = Duration::from_secs(5);
/// Shorter than the idle timeout of servers.
const IDLE_TIMEOUT: Duration = Duration::from_mins(1);

/// Client for other hubs, made when it is first needed.
#[derive(Debug, Default)]
pub(super) struct Forwarder(OnceLock<reqwest::Client>);

impl Forwarder {
    fn client(&self) -> Result<&reqwest::Client, ApiError> {
        if let Some(client) = self.0.get() {
            return Ok(client);
        }
        let made = http_client::builder().and_then(|builder| {
            let builder = builder.redirect(reqwest::redirect::Policy::none()).connect_timeout(CONNECT_TIMEOUT);
            Ok(builder.tcp_keepalive(KEEPALIVE).pool_idle_timeout(IDLE_TIMEOUT).build()?)
        });
        let client = made.map_err(|error| ApiError::internal(std::io::Error::other(format!("{error:#}"))))?;
        Ok(self.0.get_or_init(|| client))
    }

    /// Sends the request to the hub at `url`, which the operator has named, and returns its response.
    pub(super) async fn forward(&self, app: &App, url: &str, request: Request) -> Result<Response, ApiError> {
        let hops = hops(request.headers());
        if hops >= MAX_HOPS {
            // They remember for a moment where it was before.
            return Err(failure(&Method::GET, true));
        }
        let client = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|client| client.0.ip().to_canonical());
        let (parts, body) = request.into_parts();
        let path = parts.uri.path_and_query().map_or("/", PathAndQuery::as_str);
        let mut headers = without_connection(&parts.headers);
        headers.insert(FORWARDED.clone(), HeaderValue::from(u16::from(hops) + 1));
        if let Some(client) = client {
            let client = HeaderValue::try_from(client.to_string()).map_err(ApiError::internal)?;
            headers.insert(FORWARDED_FOR.clone(), client);
        }
        traces::inject(&mut headers);
        let address = format!("{}{path}", url.trim_end_matches('/'));
        let mut sent = self.client()?.request(parts.method.clone(), address).headers(headers);
        if !body.is_end_stream() {
            sent = sent.body(of_request(body).await?);
        }
        match sent.send().await {
            Ok(response) => answer(app, url, response),
            Err(error) => {
                tracing::warn!(error = http_client::with_causes(&error), url, "could not reach a moved network's hub");
                Err(failure(&parts.method, error.is_connect()))
            }
        }
    }
}

fn hops(headers: &HeaderMap) -> u8 {
    let Some(value) = headers.get(&FORWARDED) else { return 0 };
    value.to_str().ok().and_then(|hops| hops.parse().ok()).unwrap_or(MAX_HOPS)
}

/// Headers without those that belong to one connection.
fn without_connection(headers: &HeaderMap) -> HeaderMap {
    let named = headers.get_all(header::CONNECTION);
    let named: Vec<_> = named.iter().filter_map(|value| value.to_str().ok()).flat_map(|text| text.split(',')).collect();
    let stays = |name: &HeaderName| {
        !OF_CONNECTION.contains(&name.as_str()) && !named.iter().any(|it| it.trim().eq_ignore_ascii_case(name.as_str()))
    };
    headers.iter().filter(|(name, _)| stays(name)).map(|(name, value)| (name.clone(), value.clone())).collect()
}

async fn of_request(body: Body) -> Result<reqwest::Body, ApiError> {
    if body.size_hint().upper().is_none_or(|size| size > MAX_BUFFERED) {
        return Ok(reqwest::Body::wrap_stream(body.into_data_stream()));
    }
    let bytes = body.collect().await.map_err(|_| ApiError::invalid("The body ended early."))?.to_bytes();
    Ok(bytes.into())
}

/// The other hub's response. A stream ends with this hub.
fn answer(app: &App, url: &str, response: reqwest::Response) -> Result<Response, ApiError> {
    let (status, mut headers) = (response.status(), without_connection(response.headers()));
    headers.insert(MOVED_TO.clone(), HeaderValue::try_from(url).map_err(ApiError::internal)?);
    let is_stream = headers.get(header::CONTENT_TYPE).is_some_and(|it| it.as_bytes().starts_with(b"text/event-stream"));
    let bytes = response.bytes_stream().map_err(std::io::Error::other);
    let body = if is_stream {
        // Its reader reconnects, here or there.
        let ended = app.stopping().cancelled_owned();
        Body::from_stream(bytes.take_while(|bytes| ready(bytes.is_ok())).take_until(ended))
    } else {
        Body::from_stream(bytes)
    };
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    *answer.headers_mut() = headers;
    Ok(answer)
}

/// Error without the other hub's response.
fn failure(method: &Method, was_sent_nothing: bool) -> ApiError {
    let unavailable = |code, message| ApiError::new(StatusCode::SERVICE_UNAVAILABLE, code, message);
    if was_sent_nothing || method.is_safe() {
        let message = "This network moved to another hub, which does not respond; try again in a moment.";
        return unavailable("network_moving", message).retry_after(1);
    }
    // No `Retry-After`: a repetition may double the effect.
    unavailable(
        "node_lost",
        "This network moved to another hub, which did not respond; the request may or may not have taken effect.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let header = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        pairs.iter().map(header).collect()
    }

    #[test]
    fn headers_of_the_connection_stay_behind() {
        let sent = headers(&[
            ("connection", "keep-alive, X-Private"),
            ("x-private", "a"),
            ("x-forwarded-for", "203.0.113.7"),
            ("x-hub-from", "forged"),
            ("host", "old"),
            ("x-service-api-key", "key"),
            ("idempotency-key", "one"),
        ]);
        let left = without_connection(&sent);
        let mut names: Vec<_> = left.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["idempotency-key", "x-service-api-key"]);
    }

    #[test]
    fn hops_are_counted_and_forged_ones_end_the_way() {
        assert_eq!(hops(&headers(&[])), 0);
        assert_eq!(hops(&headers(&[("hub-forwarded", "2")])), 2);
        assert_eq!(hops(&headers(&[("hub-forwarded", "-1")])), MAX_HOPS);
    }
}
