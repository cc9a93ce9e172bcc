//! Styles and scripts that the console has not, at addresses that change with their content.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::header::CACHE_CONTROL;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use hub_base::values::hex;
use sha2::{Digest as _, Sha256};

use crate::content::Content;
use crate::files;

macro_rules! assets {
    ($($name:literal: $kind:literal),+ $(,)?) => {
        const ASSETS: &[(&str, &str, &str)] = &[$(($name, $kind, include_str!(concat!("../files/", $name)))),+];
    };
}

assets![
    "book.css": "text/css; charset=utf-8",
    "js/reference.js": "text/javascript; charset=utf-8",
];

static CONTENTS: LazyLock<Vec<Content>> = LazyLock::new(|| {
    let content = |(name, kind, text): &(&str, &'static str, &'static str)| {
        Content::new(kind, files::edited(name, text).into_owned())
    };
    ASSETS.iter().map(content).collect()
});
/// Hash of all assets.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut hash = Sha256::new();
    CONTENTS.iter().for_each(|content| hash.update(content.tag()));
    hex(&hash.finalize()[..6])
});

/// Address of an asset.
pub(crate) fn address(name: &str) -> String {
    format!("/docs/assets/{}/{name}", *VERSION)
}

pub(crate) async fn serve(Path((version, name)): Path<(String, String)>, headers: HeaderMap) -> Response {
    let Some(at) = ASSETS.iter().position(|(known, ..)| *known == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let mut response = CONTENTS[at].answer(&headers);
    // One that another version's page asks for is not kept.
    if version == *VERSION {
        let kept = HeaderValue::from_static("public, max-age=31536000, immutable");
        response.headers_mut().insert(CACHE_CONTROL, kept);
    }
    response
}
