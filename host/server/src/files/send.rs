//! A file on its way out.

use std::convert::Infallible;
use std::io;
use std::path::Path;

use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use tokio_util::io::ReaderStream;

use crate::files::FileError;

/// What is read from the disk at a time.
const PIECE: usize = 64 * 1024;

/// Which version of a file the caller has already, if any: `If-None-Match`.
#[derive(Clone, Debug)]
pub struct Validator(Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for Validator {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.headers))
    }
}

impl Validator {
    fn of(headers: &HeaderMap) -> Self {
        let tags: Vec<_> = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok()).collect();
        Self((!tags.is_empty()).then(|| tags.join(",")))
    }

    fn has(&self, etag: &str) -> bool {
        let tags = self.0.as_deref().unwrap_or_default();
        tags.split(',').map(str::trim).any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
    }
}

/// The answer that is this file: in pieces, with its length, and its SHA-256 as `ETag`. 304 for a caller who has it.
pub async fn send(place: &Path, sha256: &str, size: u64, has: &Validator) -> Result<Response, FileError> {
    let etag = format!("\"{sha256}\"");
    let caching = [(ETAG, etag.clone()), (CACHE_CONTROL, "private, no-cache".to_owned())];
    if has.has(&etag) {
        return Ok((StatusCode::NOT_MODIFIED, caching).into_response());
    }
    let file = tokio::fs::File::open(place).await?;
    let found = file.metadata().await?.len();
    if found != size {
        let place = place.display();
        return Err(io::Error::other(format!("{place} has {found} bytes and should have {size}")).into());
    }
    let body = Body::from_stream(ReaderStream::with_capacity(file, PIECE));
    let about = [
        (CONTENT_TYPE, "application/octet-stream".to_owned()),
        (CONTENT_LENGTH, size.to_string()),
        (CONTENT_DISPOSITION, "attachment".to_owned()),
    ];
    Ok((caching, about, body).into_response())
}
