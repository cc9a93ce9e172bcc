//! Answers of the console: pages and redirects.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, LOCATION, RETRY_AFTER, SET_COOKIE, VARY};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde_json::Value;

use crate::compress::gzip;
use crate::language::Language;
use crate::templates;

/// Pages below this size are not compressed.
const SMALL: usize = 1 << 10;

/// Encoding that a browser takes, and language of its person.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader {
    pub(crate) language: &'static Language,
    pub(crate) takes_gzip: bool,
}

/// A rendered page.
pub(crate) fn page(reader: Reader, status: StatusCode, template: &str, context: &Value) -> Response {
    let text = templates::render(reader.language, template, context).unwrap_or_else(|error| {
        tracing::error!(template, error = format!("{error:#}"), "a page could not be rendered");
        FAILED.to_owned()
    });
    let status = if text == FAILED { StatusCode::INTERNAL_SERVER_ERROR } else { status };
    let mut response = status.into_response();
    let compressed = (reader.takes_gzip && text.len() > SMALL).then(|| gzip(text.as_bytes())).flatten();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(VARY, HeaderValue::from_static("Accept-Encoding, Accept-Language, Cookie"));
    if let Some(seconds) = context["problem"]["retryAfter"].as_u64() {
        headers.insert(RETRY_AFTER, seconds.into());
    }
    if compressed.is_some() {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    *response.body_mut() = compressed.map_or_else(|| Body::from(text), Body::from);
    response
}

/// Shown where even the page of an error cannot be rendered.
const FAILED: &str = "<!doctype html><title>Error</title><p>The hub failed to make this page; the operator finds the cause in its log.</p>";

/// A redirect to a page, with cookies.
pub(crate) fn see_other(path: &str, cookies: &[HeaderValue]) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    if let Ok(path) = HeaderValue::from_str(path) {
        response.headers_mut().insert(LOCATION, path);
    }
    for cookie in cookies {
        response.headers_mut().append(SET_COOKIE, cookie.clone());
    }
    response
}
