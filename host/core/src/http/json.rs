//! JSON responses. Large ones are serialized outside the threads that serve requests.

use std::io;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use parking_lot::Mutex;
use serde::Serialize;

use crate::compute::{LARGE_JSON, compute};
use crate::http::answer;
use crate::http::error::ApiError;
use crate::http::layers::Next;

/// A value to be serialized. The serializer takes it out: response extensions must be clonable.
#[derive(Clone)]
struct Unwritten(Arc<Mutex<Option<Box<dyn Writable>>>>);

trait Writable: Send {
    fn write(&self, limit: usize) -> Result<Vec<u8>, serde_json::Error>;
}

impl<T: Serialize + Send> Writable for T {
    fn write(&self, limit: usize) -> Result<Vec<u8>, serde_json::Error> {
        let mut bounded = Bounded { bytes: Vec::with_capacity(256), limit };
        serde_json::to_writer(&mut bounded, self)?;
        Ok(bounded.bytes)
    }
}

/// Buffer with a size limit.
struct Bounded {
    bytes: Vec<u8>,
    limit: usize,
}

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.limit {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Response whose body is written by [`layer`].
pub(super) fn unwritten(value: impl Serialize + Send + 'static) -> Response {
    let mut response = Response::new(Body::empty());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let value: Box<dyn Writable> = Box::new(value);
    response.extensions_mut().insert(Unwritten(Arc::new(Mutex::new(Some(value)))));
    response
}

/// A serialized response for several callers.
#[derive(Clone, Debug)]
pub struct WrittenJson(Bytes);

impl WrittenJson {
    /// Serializes a value that is not larger than a document.
    pub fn new(value: &impl Serialize) -> Result<Self, ApiError> {
        serde_json::to_vec(value).map(|bytes| Self(bytes.into())).map_err(ApiError::internal)
    }
}

impl IntoResponse for WrittenJson {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        answer::set_body(&mut response, self.0);
        response
    }
}

/// Serializes the JSON of responses.
pub async fn layer(State(()): State<()>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let Some(Unwritten(value)) = response.extensions_mut().remove::<Unwritten>() else { return response };
    let Some(value) = value.lock().take() else { return response };
    let written = match value.write(LARGE_JSON) {
        // Restarted: large values are detected without inspecting every value first.
        Err(error) if error.is_io() => {
            compute(move || {
                let mut bytes = value.write(usize::MAX)?;
                // Up to half of it was never touched.
                bytes.shrink_to_fit();
                Ok(bytes)
            })
            .await
        }
        written => written,
    };
    match written {
        Ok(bytes) => {
            answer::check(bytes.len());
            answer::set_body(&mut response, bytes.into());
            // Describes the previous body.
            response.headers_mut().remove(header::CONTENT_LENGTH);
            response
        }
        Err(error) => ApiError::internal(error).into_response(),
    }
}
