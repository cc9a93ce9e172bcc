//! Headers that keep answers out of caches, and browsers from guessing their type.

use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, ETAG, X_CONTENT_TYPE_OPTIONS};
use axum::response::Response;

use crate::http::layers::Next;

/// Adds the headers to answers without them: most have a network's data, a player's, or a secret.
pub async fn layer(State(()): State<()>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.entry(X_CONTENT_TYPE_OPTIONS).or_insert(HeaderValue::from_static("nosniff"));
    // An answer with a validator may be kept by its own client, which asks for changes.
    let value = if headers.contains_key(ETAG) { "private, no-cache" } else { "no-store" };
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static(value));
    response
}
