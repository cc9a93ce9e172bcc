//! Styles, scripts and pictures: in the binary, compressed, at addresses that change with their content.

use std::borrow::Cow;
use std::sync::LazyLock;

use axum::body::Body;
use axum::extract::Path;
use axum::http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use hub_base::values::hex;
use sha2::{Digest as _, Sha256};

use crate::compress::gzip;
use crate::folder::folder;

macro_rules! assets {
    ($($name:literal: $kind:literal),+ $(,)?) => {
        const ASSETS: &[(&str, &str, &str)] = &[$(($name, $kind, include_str!(concat!("../files/", $name)))),+];
    };
}

assets![
    "console.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
    "js/console.js": "text/javascript; charset=utf-8",
    "js/keys.js": "text/javascript; charset=utf-8",
    "js/live.js": "text/javascript; charset=utf-8",
    "js/log.js": "text/javascript; charset=utf-8",
    "js/staged.js": "text/javascript; charset=utf-8",
    "js/swap.js": "text/javascript; charset=utf-8",
    "js/times.js": "text/javascript; charset=utf-8",
    "js/toast.js": "text/javascript; charset=utf-8",
];
const SPRITE: &str = include_str!("../files/icons.svg");

/// Hash of all assets: scripts import each other by relative addresses.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut hash = Sha256::new();
    for (name, _, text) in ASSETS {
        hash.update(name);
        hash.update(text);
    }
    hex(&hash.finalize()[..6])
});
static COMPRESSED: LazyLock<Vec<Option<Vec<u8>>>> =
    LazyLock::new(|| ASSETS.iter().map(|(_, _, text)| gzip(text.as_bytes())).collect());

/// Address of an asset.
pub(crate) fn address(name: &str) -> String {
    format!("/console/assets/{}/{name}", *VERSION)
}

/// Icons, for the top of every page.
pub(crate) fn sprite() -> String {
    edited("icons.svg").unwrap_or_else(|| SPRITE.to_owned())
}

/// The file in a checkout.
fn edited(name: &str) -> Option<String> {
    std::fs::read_to_string(folder()?.join(name)).ok()
}

pub(crate) async fn serve(Path((version, name)): Path<(String, String)>, headers: HeaderMap) -> Response {
    let Some(at) = ASSETS.iter().position(|(known, ..)| *known == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let (_, kind, text) = ASSETS[at];
    let edited = edited(&name);
    let takes_gzip = headers.get(ACCEPT_ENCODING).and_then(|it| it.to_str().ok()).is_some_and(|it| it.contains("gzip"));
    let compressed = COMPRESSED[at].as_deref().filter(|_| takes_gzip && edited.is_none());
    let mut response = StatusCode::OK.into_response();
    // One that is being edited, or asked for by another version's page, is not kept.
    let keeps = edited.is_none() && version == *VERSION;
    let cache = if keeps { "public, max-age=31536000, immutable" } else { "no-cache" };
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    if compressed.is_some() {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    *response.body_mut() = match compressed {
        Some(bytes) => Body::from(bytes),
        None => Body::from(edited.map_or(Cow::Borrowed(text), Cow::Owned).into_owned()),
    };
    response
}
