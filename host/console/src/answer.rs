//! Answers of the console: pages and redirects.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, LOCATION, RETRY_AFTER, SET_COOKIE, VARY};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use hub_base::compute::{Turn, compute_in_turn_of};
use hub_base::values::{NetworkId, OPERATOR_NETWORK};
use hub_core::http::answer::{AnswerOf, set_body};
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

/// A page that is not rendered yet.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) reader: Reader,
    pub(crate) template: String,
    pub(crate) context: Value,
    /// Network that it is about.
    pub(crate) network: Option<NetworkId>,
}

/// Answer with a page, which [`render`] makes.
pub(crate) fn page(page: Page, status: StatusCode) -> Response {
    let mut response = status.into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(VARY, HeaderValue::from_static("Accept-Encoding, Accept-Language, Cookie"));
    if let Some(seconds) = page.context["problem"]["retryAfter"].as_u64() {
        headers.insert(RETRY_AFTER, seconds.into());
    }
    response.extensions_mut().insert(Arc::new(page));
    response
}

/// Renders the page of an answer, as its network's computing: it grows with the network's data.
pub(crate) async fn render(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let Some(page) = response.extensions_mut().remove::<Arc<Page>>() else { return response };
    let network = page.network.unwrap_or(OPERATOR_NETWORK);
    let Rendered { bytes, is_compressed } =
        compute_in_turn_of(network, |turn| page.rendered(turn)).await.unwrap_or_else(|error| {
            tracing::error!(template = page.template, error = format!("{error:#}"), "a page could not be rendered");
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
            Rendered { bytes: Bytes::from_static(FAILED.as_bytes()), is_compressed: false }
        });
    if is_compressed {
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if let Some(network) = page.network {
        response.extensions_mut().insert(AnswerOf(network));
    }
    set_body(&mut response, bytes);
    response
}

struct Rendered {
    bytes: Bytes,
    is_compressed: bool,
}

impl Page {
    fn rendered(&self, turn: &Turn) -> Result<Rendered, minijinja::Error> {
        let text = templates::render(turn, self.reader.language, &self.template, &self.context)?;
        let compressed = (self.reader.takes_gzip && text.len() > SMALL).then(|| gzip(text.as_bytes())).flatten();
        let is_compressed = compressed.is_some();
        Ok(Rendered { bytes: compressed.map_or_else(|| text.into(), Bytes::from), is_compressed })
    }
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
