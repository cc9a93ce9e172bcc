//! One stream for each open page: it says which kinds of event happened, and the page fetches its parts again.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;

use crate::refusal::Refusal;
use crate::visit::Visit;

static LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Interval at which pages of people without the right to read events fetch their parts again.
const INTERVAL: Duration = Duration::from_secs(10);

/// Streams the network's events of the page's types, as the person. A browser resumes it by `Last-Event-ID`.
pub(crate) async fn stream(headers: HeaderMap, mut visit: Visit) -> Response {
    if let Err(refusal) = visit.enter().await {
        return refusal.status.into_response();
    }
    let path = visit.fill("/api/plugin/events", &[("types", visit.query("types"))]);
    let last = headers.get(&LAST_EVENT_ID).map(|id| (LAST_EVENT_ID.clone(), id.clone()));
    let response = visit.console.door.open(&visit.sender, &path, last.as_slice()).await;
    if response.status().is_success() {
        return response;
    }
    let status = response.status();
    let refusal = axum::body::to_bytes(response.into_body(), 64 << 10).await.unwrap_or_default();
    if Refusal::of_hub(status, &refusal, None).code != "forbidden_scope" {
        return status.into_response();
    }
    ticks(visit)
}

/// Streams the lines of a server's log, as the person.
pub(crate) async fn log(headers: HeaderMap, mut visit: Visit) -> Response {
    if let Err(refusal) = visit.enter().await {
        return refusal.status.into_response();
    }
    let path = visit.fill("/api/manage/servers/{serverId}/logs/recent", &[("limit", "1")]);
    let last = headers.get(&LAST_EVENT_ID).map(|id| (LAST_EVENT_ID.clone(), id.clone()));
    let accept = (ACCEPT, HeaderValue::from_static("text/event-stream"));
    let more: Vec<_> = last.into_iter().chain([accept]).collect();
    visit.console.door.open(&visit.sender, &path, &more).await
}

/// A stream that says at intervals that anything may have happened, as long as the session is good.
fn ticks(visit: Visit) -> Response {
    let stop = visit.console.app.stopping();
    let first = Bytes::from_static(b": open\n\n");
    let ticks = stream::unfold((visit, Some(first)), move |(visit, first)| {
        let stop = stop.clone();
        async move {
            if let Some(first) = first {
                return Some((Ok::<_, Infallible>(first), (visit, None)));
            }
            tokio::select! {
                () = stop.cancelled() => return None,
                () = tokio::time::sleep(INTERVAL) => {}
            }
            visit.get("/api/people/me", &[]).await.ok()?;
            Some((Ok(Bytes::from_static(b"event: TICK\ndata: {\"type\":\"TICK\"}\n\n")), (visit, None)))
        }
    });
    let mut response = Body::from_stream(ticks).into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
