//! Outgoing blobs.

use std::convert::Infallible;
use std::io;

use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::{GetResult, GetResultPayload};
use tokio_util::io::ReaderStream;

use crate::blobs::{BlobError, BlobKey, Blobs};
use crate::http::answer;

/// Number of bytes read from a file at a time.
const CHUNK: usize = 64 * 1024;

/// Version of a blob that the client already has, if any: `If-None-Match`.
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

/// A blob opened for reading. It can be read to the end even if it is deleted meanwhile.
pub struct Blob {
    pub size: u64,
    payload: Payload,
}

enum Payload {
    Stored(GetResult),
    Bytes(Bytes),
}

impl Blob {
    pub(super) fn new(found: GetResult) -> Self {
        Self { size: found.meta.size, payload: Payload::Stored(found) }
    }

    pub fn of_bytes(bytes: Bytes) -> Self {
        Self { size: bytes.len() as u64, payload: Payload::Bytes(bytes) }
    }

    /// Reads the whole blob into memory.
    pub async fn bytes(self) -> Result<Bytes, BlobError> {
        match self.payload {
            Payload::Stored(found) => Ok(found.bytes().await?),
            Payload::Bytes(bytes) => Ok(bytes),
        }
    }

    /// Streams the blob in chunks.
    pub fn stream(self) -> BoxStream<'static, io::Result<Bytes>> {
        match self.payload {
            Payload::Stored(GetResult { payload: GetResultPayload::File(file, _), .. }) => {
                ReaderStream::with_capacity(tokio::fs::File::from_std(file), CHUNK).boxed()
            }
            Payload::Stored(found) => found.into_stream().map_err(io::Error::from).boxed(),
            Payload::Bytes(bytes) => stream::iter([Ok(bytes)]).boxed(),
        }
    }
}

/// Sends chunks with a content length; a blob in memory is sent whole.
impl IntoResponse for Blob {
    fn into_response(self) -> Response {
        match self.payload {
            Payload::Bytes(bytes) => {
                let mut response = Response::default();
                answer::set_body(&mut response, bytes);
                response
            }
            Payload::Stored(_) => {
                let length = [(CONTENT_LENGTH, self.size.to_string())];
                (length, Body::from_stream(self.stream())).into_response()
            }
        }
    }
}

impl Blobs {
    /// Response with this blob: in chunks, with its length, and with its SHA-256 as `ETag`. 304 if the client has it.
    pub async fn send(&self, key: &BlobKey, sha256: &str, size: u64, has: &Validator) -> Result<Response, BlobError> {
        let etag = format!("\"{sha256}\"");
        let caching = [(ETAG, etag.clone()), (CACHE_CONTROL, "private, no-cache".to_owned())];
        if has.has(&etag) {
            return Ok((StatusCode::NOT_MODIFIED, caching).into_response());
        }
        let blob = self.get(key).await?.ok_or_else(|| BlobError::Missing(key.to_string()))?;
        if blob.size != size {
            return Err(BlobError::WrongSize { key: key.to_string(), found: blob.size, expected: size });
        }
        let about =
            [(CONTENT_TYPE, "application/octet-stream".to_owned()), (CONTENT_DISPOSITION, "attachment".to_owned())];
        Ok((caching, about, blob).into_response())
    }
}
