//! Answers that are made once: compressed, with the hash of their content as their tag.

use axum::body::Body;
use axum::http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use hub_base::values::hex;
use hub_console::look::gzip;
use sha2::{Digest as _, Sha256};

/// Content below this size is not compressed.
const SMALL: usize = 1 << 10;
/// Caches ask each time whether the content is still the same: the next version of the hub has other pages.
const REVALIDATED: HeaderValue = HeaderValue::from_static("public, no-cache");

/// Content with its type.
#[derive(Debug)]
pub(crate) struct Content {
    kind: &'static str,
    tag: String,
    plain: Bytes,
    compressed: Option<Bytes>,
}

impl Content {
    pub(crate) fn new(kind: &'static str, plain: impl Into<Bytes>) -> Self {
        let plain = plain.into();
        let tag = format!("\"{}\"", hex(&Sha256::digest(&plain)[..12]));
        let compresses = plain.len() > SMALL && kind != "image/png";
        let compressed = if compresses { gzip(&plain).map(Bytes::from) } else { None };
        Self { kind, tag, plain, compressed }
    }

    /// Hash of the content.
    pub(crate) fn tag(&self) -> &str {
        &self.tag
    }

    pub(crate) fn html(page: String) -> Self {
        Self::new("text/html; charset=utf-8", page)
    }

    pub(crate) fn answer(&self, request: &HeaderMap) -> Response {
        let mut response = if is_known(request, &self.tag) {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            let compressed = self.compressed.as_ref().filter(|_| takes_gzip(request));
            let mut response = Body::from(compressed.unwrap_or(&self.plain).clone()).into_response();
            if compressed.is_some() {
                response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            }
            response
        };
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.kind));
        headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
        headers.insert(CACHE_CONTROL, REVALIDATED);
        if let Ok(tag) = HeaderValue::from_str(&self.tag) {
            headers.insert(ETAG, tag);
        }
        response
    }
}

fn texts<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok())
}

fn takes_gzip(request: &HeaderMap) -> bool {
    texts(request, &ACCEPT_ENCODING).any(|value| value.contains("gzip"))
}

/// True if the reader has this content. A proxy that compresses makes its tag a weak one.
fn is_known(request: &HeaderMap, tag: &str) -> bool {
    let mut tags = texts(request, &IF_NONE_MATCH).flat_map(|value| value.split(','));
    tags.any(|known| matches!(known.trim().trim_start_matches("W/"), known if known == tag || known == "*"))
}

/// A page that depends on a query: compressed, and not kept.
pub(crate) fn fresh(status: StatusCode, page: String, request: &HeaderMap) -> Response {
    let compressed = if takes_gzip(request) && page.len() > SMALL { gzip(page.as_bytes()) } else { None };
    let is_compressed = compressed.is_some();
    let mut response = (status, compressed.map_or_else(|| Body::from(page), Body::from)).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if is_compressed {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_content_is_not_sent_again() {
        let content = Content::html("<p>text</p>".repeat(200));
        let answer = |name: HeaderName, value: &str| {
            let headers = HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())]);
            content.answer(&headers)
        };
        assert_eq!(answer(IF_NONE_MATCH, &content.tag).status(), StatusCode::NOT_MODIFIED);
        assert_eq!(answer(IF_NONE_MATCH, &format!("\"a\", W/{}", content.tag)).status(), StatusCode::NOT_MODIFIED);
        assert_eq!(answer(IF_NONE_MATCH, "\"a\"").status(), StatusCode::OK);
        assert!(answer(ACCEPT_ENCODING, "br, gzip").headers().contains_key(CONTENT_ENCODING));
        assert!(!answer(ACCEPT_ENCODING, "br").headers().contains_key(CONTENT_ENCODING));
    }
}
