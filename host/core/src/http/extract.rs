//! Extractors for all parts of a request except its key. Invalid parts are a 400 error.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::path::ErrorKind;
use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequest, FromRequestParts, RawPathParams, Request};
use axum::http::header::CONTENT_LENGTH;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use futures_util::future::BoxFuture;
use http_body_util::{BodyExt as _, Collected, LengthLimitError, Limited};
use serde::de::{DeserializeOwned, IgnoredAny, Visitor};
use serde::{Deserializer, Serialize};
use tokio::time::Instant;

use crate::compute::{LARGE_JSON, compute_if};
use crate::http::error::ApiError;
use crate::http::json;

/// Maximum size of a JSON body, in bytes.
pub const JSON_LIMIT: usize = 1024 * 1024;

/// A JSON body of at most [`JSON_LIMIT`], whatever its content type; as a response, JSON.
#[derive(Clone, Copy, Debug)]
pub struct Json<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let bytes = read_body(request, JSON_LIMIT).await?;
        compute_if(bytes.len() > LARGE_JSON, || parse(&bytes)).await.map(Self)
    }
}

/// Like [`Json`], with another maximum size.
#[derive(Clone, Copy, Debug)]
pub struct JsonUpTo<const LIMIT: usize, T>(pub T);

impl<const LIMIT: usize, T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonUpTo<LIMIT, T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let bytes = read_body(request, LIMIT).await?;
        compute_if(bytes.len() > LARGE_JSON, || parse(&bytes)).await.map(Self)
    }
}

/// Like [`Json`], for frequently read bodies: tracking the position in the body, for the error message, takes a third
/// of the reading time. Only an invalid body is read again with tracking.
#[derive(Clone, Copy, Debug)]
pub struct FrequentJson<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for FrequentJson<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let bytes = read_body(request, JSON_LIMIT).await?;
        compute_if(bytes.len() > LARGE_JSON, || parse_valid(&bytes).map_or_else(|| parse(&bytes), Ok)).await.map(Self)
    }
}

fn parse_valid<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    reject_nul(bytes).ok()?;
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = T::deserialize(Object(&mut json)).ok()?;
    json.end().ok()?;
    Some(value)
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    reject_nul(bytes)?;
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(Object(&mut json)).map_err(|error| {
        // Unnameable parts, such as a key that is not text, appear as a question mark.
        let path = error.path().to_string();
        let path = path.strip_suffix('?').map_or(&*path, |path| path.trim_end_matches('.'));
        let path = if path.is_empty() { "." } else { path }.to_owned();
        let reason = error.into_inner().to_string();
        let reason = without_type_names(without_place(&reason));
        if bytes.is_empty() {
            ApiError::invalid("A JSON body is required.")
        } else if let Err(error) = serde_json::from_slice::<IgnoredAny>(bytes) {
            ApiError::invalid(format!("The body is not valid JSON: {error}."))
        } else if path == "." {
            ApiError::invalid(format!("The body is invalid: {reason}."))
        } else {
            ApiError::invalid(format!("In the body, `{path}`: {reason}."))
        }
    })?;
    json.end().map_err(|error| ApiError::invalid(format!("The body is not one JSON value: {error}.")))?;
    Ok(value)
}

impl<T: Serialize + Send + 'static> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        json::unwritten(self.0)
    }
}

/// Removes the line and the column, where the field's name says more.
fn without_place(reason: &str) -> &str {
    let Some((before, place)) = reason.rsplit_once(" at line ") else { return reason };
    let is_place =
        place.split(" column ").all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    if is_place { before } else { reason }
}

/// Removes the names of this program's types from serde's message.
fn without_type_names(reason: &str) -> String {
    let Some((before, after)) = reason.split_once("expected struct ") else { return reason.to_owned() };
    let after = after.trim_start_matches(|letter: char| letter.is_alphanumeric() || letter == '_');
    format!("{before}expected an object{after}")
}

/// Deserializes a struct only from a JSON object: serde also accepts an array of its fields.
struct Object<'a, R>(&'a mut serde_json::Deserializer<R>);

impl<'de, R: serde_json::de::Read<'de>> Deserializer<'de> for Object<'_, R> {
    type Error = serde_json::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, serde_json::Error> {
        self.0.deserialize_any(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, serde_json::Error> {
        self.0.deserialize_map(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, serde_json::Error> {
        visitor.visit_newtype_struct(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// Query parameters.
#[derive(Clone, Copy, Debug)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let query = parts.uri.query().unwrap_or_default();
        if query.contains("%00") {
            return Err(ApiError::invalid("The query must not contain NUL characters."));
        }
        let pairs = serde_urlencoded::Deserializer::new(form_urlencoded::parse(query.as_bytes()));
        serde_path_to_error::deserialize(pairs).map(Self).map_err(|error| {
            let path = error.path().to_string();
            let reason = error.into_inner();
            ApiError::invalid(if path == "." {
                format!("The query is invalid: {reason}.")
            } else {
                format!("In the query, `{path}`: {reason}.")
            })
        })
    }
}

/// Path parameters.
#[derive(Clone, Copy, Debug)]
pub struct Path<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        if parts.uri.path().contains("%00") {
            return Err(ApiError::invalid("The path must not contain NUL characters."));
        }
        match axum::extract::Path::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(value)) => Ok(Self(value)),
            Err(rejection) => {
                let names = RawPathParams::from_request_parts(parts, state).await.ok();
                let names = names.iter().flatten().map(|(name, _)| name).collect::<Vec<_>>();
                Err(ApiError::invalid(describe(rejection, &names)))
            }
        }
    }
}

/// Describes the first invalid parameter of a path.
fn describe(rejection: PathRejection, names: &[&str]) -> String {
    let PathRejection::FailedToDeserializePathParams(failed) = rejection else {
        return format!("{}.", rejection.body_text());
    };
    let (name, reason) = match failed.into_kind() {
        ErrorKind::DeserializeError { key, message, .. } => (key, message),
        ErrorKind::ParseErrorAtKey { key, value, .. } => (key, cannot_be(&value)),
        ErrorKind::ParseErrorAtIndex { index, value, .. } => (name_at(names, index), cannot_be(&value)),
        ErrorKind::ParseError { value, .. } => (name_at(names, 0), cannot_be(&value)),
        ErrorKind::InvalidUtf8InPathParam { key } => (key, "is not valid UTF-8".to_owned()),
        other => return format!("In the path, {other}."),
    };
    format!("In the path, `{name}`: {reason}.")
}

fn name_at(names: &[&str], index: usize) -> String {
    (*names.get(index).unwrap_or(&"?")).to_owned()
}

/// Parameters that are not texts are numbers.
fn cannot_be(value: &str) -> String {
    format!("`{value}` is not an integer")
}

/// Upper bound of a body's size, from its headers; refused if above `limit`.
pub fn at_most(request: &Request, limit: usize) -> Result<usize, ApiError> {
    let announced = request.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    match announced.map(usize::try_from) {
        None => Ok(limit),
        Some(Ok(length)) if length <= limit => Ok(length),
        Some(_) => Err(ApiError::too_large(limit)),
    }
}

/// Time after which a body came so slowly that its sender may have lost the right to send it.
const SLOW: Duration = Duration::from_millis(500);

/// The right to send a request, which was looked at before its body came.
pub trait Right: Send + Sync {
    /// Refuses the request if the right has ended.
    fn look_again(&self) -> BoxFuture<'_, Result<(), ApiError>>;
}

/// Extension of requests whose right is looked at again if the body comes slowly: a revoked key must do nothing more.
#[derive(Clone)]
pub struct Reviewed(pub Arc<dyn Right>);

/// Looks again at the right to a request whose body took long.
struct Review {
    began: Instant,
    right: Option<Reviewed>,
}

impl Review {
    fn begin(request: &Request) -> Self {
        Self { began: Instant::now(), right: request.extensions().get::<Reviewed>().cloned() }
    }

    async fn end(self) -> Result<(), ApiError> {
        match self.right {
            Some(Reviewed(right)) if self.began.elapsed() > SLOW => right.look_again().await,
            _ => Ok(()),
        }
    }
}

/// Reads a body.
pub async fn read_body(request: Request, limit: usize) -> Result<Bytes, ApiError> {
    at_most(&request, limit)?;
    let review = Review::begin(&request);
    let read = Limited::new(request.into_body(), limit).collect().await;
    let read = read.map(Collected::to_bytes).map_err(|error| unreadable(&*error, limit))?;
    review.end().await?;
    Ok(read)
}

/// Reads a body of many megabytes, joining chunks as they arrive: joining them at the end would block for a
/// millisecond per megabyte.
pub async fn read_large(request: Request, limit: usize) -> Result<Vec<u8>, ApiError> {
    // Untouched memory costs nothing.
    let mut whole = Vec::with_capacity(at_most(&request, limit)?);
    let review = Review::begin(&request);
    let mut body = Limited::new(request.into_body(), limit);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| unreadable(&*error, limit))?;
        if let Some(data) = frame.data_ref() {
            whole.extend_from_slice(data);
        }
    }
    review.end().await?;
    Ok(whole)
}

fn unreadable(error: &(dyn std::error::Error + Send + Sync + 'static), limit: usize) -> ApiError {
    if error.is::<LengthLimitError>() {
        return ApiError::too_large(limit);
    }
    ApiError::invalid(format!("Could not read the body: {error}."))
}

/// Refuses U+0000, which PostgreSQL's text cannot contain.
pub(super) fn reject_nul(json: &[u8]) -> Result<(), ApiError> {
    let mut escaped = false;
    for (at, byte) in json.iter().enumerate() {
        if escaped {
            escaped = false;
            if json[at..].starts_with(b"u0000") {
                return Err(ApiError::invalid("The body must not contain NUL characters (\\u0000)."));
            }
        } else {
            escaped = *byte == b'\\';
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use futures_util::{StreamExt as _, stream};
    use std::convert::Infallible;

    #[tokio::test]
    async fn a_large_body_is_read_up_to_its_limit() {
        let read = async |body: Body| {
            let read = read_large(Request::new(body), 9).await;
            read.map_err(|error| error.into_response().status().as_u16())
        };
        let chunks = || stream::iter(["abc", "de"]).map(Ok::<_, Infallible>);
        assert_eq!(read(Body::from_stream(chunks())).await, Ok(b"abcde".to_vec()));
        assert_eq!(read(Body::from_stream(chunks().chain(chunks()))).await, Err(413));
    }
}
