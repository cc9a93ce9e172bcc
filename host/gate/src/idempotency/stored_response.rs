//! Response that can be repeated.

use std::fmt;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt as _;
use hub_db::Error;
use serde::{Deserialize, Serialize};
use sqlx::FromRow;

use crate::app::App;
use crate::http::error::{ApiError, ErrorDetails};
use crate::secrets;
use crate::values::NetworkId;

/// Header that marks a repeated response.
static REPLAYED: &str = "idempotency-replayed";

/// Response as stored. Errors are stored as such, so that a repetition carries the id of the repeating request.
#[derive(Clone, Default, FromRow)]
pub(super) struct StoredResponse {
    pub(super) status: i64,
    pub(super) content_type: Option<String>,
    /// Code of an error, whose message is the body: as text or, with a content type, as a [`DetailedError`].
    pub(super) error_code: Option<String>,
    pub(super) body: Vec<u8>,
}

/// Omits the body, which may contain a secret.
impl fmt::Debug for StoredResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredResponse").field("status", &self.status).finish_non_exhaustive()
    }
}

/// Content type stored with an error whose body is a [`DetailedError`].
const DETAILED: &str = "application/json";

/// Error with its code-specific fields.
#[derive(Serialize, Deserialize)]
struct DetailedError {
    message: String,
    details: ErrorDetails,
}

/// Error code stored instead of a withheld response.
const WITHHELD: &str = "answer_not_kept";

impl StoredResponse {
    /// Stored instead of a response with a secret.
    pub(super) fn withheld() -> Self {
        Self {
            status: 409,
            content_type: None,
            error_code: Some(WITHHELD.to_owned()),
            body: b"The request took effect when it was first sent. Its response contains a secret, which only the \
                same API key gets again, for a limited time: send the request with a new Idempotency-Key. If it \
                created a key, list the keys and revoke that one."
                .to_vec(),
        }
    }

    /// Stored instead of a large response.
    pub(super) fn too_large() -> Self {
        Self {
            status: 409,
            content_type: None,
            error_code: Some(WITHHELD.to_owned()),
            body: b"The request took effect when it was first sent. Its response is too large to store: read the data."
                .to_vec(),
        }
    }

    /// Stored instead of a response about an erased player.
    pub(super) fn forgotten() -> Self {
        Self {
            status: 409,
            content_type: None,
            error_code: Some(WITHHELD.to_owned()),
            body: b"The request took effect when it was first sent. Its response concerned a since erased player."
                .to_vec(),
        }
    }

    pub(super) fn is_withheld(&self) -> bool {
        self.error_code.as_deref() == Some(WITHHELD)
    }

    /// The response with its secret fields sealed.
    pub(super) fn sealed(mut self, app: &App, network: NetworkId) -> Result<Self, Error> {
        self.body = match String::from_utf8(self.body) {
            Ok(text) => secrets::seal_fields(app, network, text)?.into_bytes(),
            Err(error) => error.into_bytes(),
        };
        Ok(self)
    }

    /// The response as it was before it was [sealed](Self::sealed).
    pub(super) async fn opened(mut self, app: &App, network: NetworkId) -> Result<Self, Error> {
        self.body = match String::from_utf8(self.body) {
            Ok(text) => secrets::open_fields_with_newest(app, network, text).await?.into_bytes(),
            Err(error) => error.into_bytes(),
        };
        Ok(self)
    }

    /// Reads a response to its end.
    pub(super) async fn read(response: Response) -> Result<(Self, Response), ApiError> {
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.map_err(ApiError::internal)?.to_bytes();
        let content_type = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let status = i64::from(parts.status.as_u16());
        let stored = match parts.extensions.get::<ApiError>() {
            Some(error) => Self::error(status, error),
            None => {
                Self { status, content_type: content_type.map(str::to_owned), error_code: None, body: bytes.to_vec() }
            }
        };
        Ok((stored, Response::from_parts(parts, Body::from(bytes))))
    }

    fn error(status: i64, error: &ApiError) -> Self {
        let (message, error_code) = (error.message().to_owned(), Some(error.code().to_owned()));
        let detailed = error.error_details().and_then(|details| {
            let details = details.clone();
            serde_json::to_vec(&DetailedError { message: message.clone(), details }).ok()
        });
        match detailed {
            Some(body) => Self { status, content_type: Some(DETAILED.to_owned()), error_code, body },
            None => Self { status, content_type: None, error_code, body: message.into_bytes() },
        }
    }

    /// Message and details of an error.
    fn detailed_error(&self) -> DetailedError {
        let detailed = self.content_type.as_ref().and_then(|_| serde_json::from_slice(&self.body).ok());
        detailed.unwrap_or_else(|| DetailedError {
            message: String::from_utf8_lossy(&self.body).into_owned(),
            details: ErrorDetails::default(),
        })
    }

    /// True if repetitions get it too; otherwise they run the request again.
    pub(super) fn is_final(&self) -> bool {
        self.status < 500 && ![401, 403, 405, 408, 413, 429].contains(&self.status)
    }

    /// Response to a repetition.
    pub(super) fn replay(self) -> Response {
        let status = u16::try_from(self.status).ok().and_then(|status| StatusCode::from_u16(status).ok());
        let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = if let Some(code) = self.error_code.clone() {
            let DetailedError { message, details } = self.detailed_error();
            ApiError::replayed(status, code, message, details).into_response()
        } else {
            let mut response = (status, Body::from(self.body)).into_response();
            if let Some(value) = self.content_type.and_then(|text| HeaderValue::try_from(text).ok()) {
                response.headers_mut().insert(header::CONTENT_TYPE, value);
            }
            response
        };
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
        response
    }
}
