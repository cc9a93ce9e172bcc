//! Form of all API errors.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::error_code::ErrorCode;
use crate::http::rate_limit::{self, RateState};

/// Error returned to a client. The cause is only logged.
#[derive(Clone, Debug)]
pub struct ApiError {
    status: StatusCode,
    code: Cow<'static, str>,
    message: Cow<'static, str>,
    retry_after_secs: Option<u64>,
    // Boxed, because errors are in every result.
    details: Option<Box<ErrorDetails>>,
    rates: Vec<RateState>,
    cause: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl ApiError {
    /// Creates an error with a stable snake-case `code` and a message for people.
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        let (code, message) = (code.into(), message.into());
        Self { status, code, message, retry_after_secs: None, details: None, rates: vec![], cause: None }
    }

    /// Recreates a stored error.
    pub fn replayed(status: StatusCode, code: String, message: String, details: ErrorDetails) -> Self {
        let mut error = Self::new(status, "", message).details(details);
        error.code = code.into();
        error
    }

    /// 400 with the given code.
    pub fn bad_request(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    /// 400 `invalid_request`: the syntax or a value of the request is invalid.
    pub fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::bad_request("invalid_request", message)
    }

    /// 404 with the given code.
    pub fn not_found(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, message)
    }

    /// 413 `body_too_large`.
    pub fn too_large(limit: usize) -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "body_too_large",
            format!("The body exceeds the limit of {limit} bytes."),
        )
    }

    /// 500 `internal`, for a fault of the hub; the cause is logged with the request id.
    pub fn internal(cause: impl std::error::Error + Send + Sync + 'static) -> Self {
        let mut error = Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "Internal error; the operator can find the cause in the log by the request id.",
        );
        error.cause = Some(Arc::new(cause));
        error
    }

    /// Adds the time after which to retry.
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after_secs = Some(seconds);
        self
    }

    /// Adds the rates that caused the refusal.
    #[must_use]
    pub fn rates(mut self, rates: Vec<RateState>) -> Self {
        self.rates = rates;
        self
    }

    /// Adds code-specific fields.
    #[must_use]
    pub fn details(mut self, details: ErrorDetails) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    /// The HTTP status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The stable code.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Message for people.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Code-specific fields.
    pub fn error_details(&self) -> Option<&ErrorDetails> {
        self.details.as_deref()
    }

    /// The cause, for the log.
    pub(super) fn cause(&self) -> Option<&(dyn std::error::Error + Send + Sync)> {
        self.cause.as_deref()
    }

    /// Renders the response with the request's id.
    pub(super) fn render(&self, request_id: &str) -> Response {
        let mut response = (self.status, Json(self.body(request_id))).into_response();
        if let Some(seconds) = self.retry_after_secs {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        rate_limit::write(&self.rates, response.headers_mut());
        response
    }

    /// Renders the response as HTTP/1.1 bytes, for a connection that is closed afterwards.
    pub fn to_http1(&self, request_id: &str) -> Vec<u8> {
        let body = self.body(request_id);
        let body = serde_json::to_vec(&body).unwrap_or_default();
        let retry_after =
            self.retry_after_secs.map(|seconds| format!("retry-after: {seconds}\r\n")).unwrap_or_default();
        let head = format!(
            "HTTP/1.1 {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nx-request-id: {request_id}\r\n\
             {retry_after}connection: close\r\n\r\n",
            self.status,
            body.len()
        );
        [head.as_bytes(), &body].concat()
    }

    fn body(&self, request_id: &str) -> ErrorBody {
        ErrorBody {
            error: self.message.to_string(),
            code: self.code.to_string(),
            request_id: request_id.to_owned(),
            details: self.details.as_deref().cloned().unwrap_or_default(),
        }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.status.as_u16(), self.code, self.message)
    }
}

impl std::error::Error for ApiError {}

impl From<hub_db::Error> for ApiError {
    fn from(error: hub_db::Error) -> Self {
        let error = match error {
            hub_db::Error::Refused(refusal) => match refusal.downcast::<Self>() {
                Ok(refusal) => return *refusal,
                Err(other) => hub_db::Error::Refused(other),
            },
            error => error,
        };
        if !error.is_unavailable() {
            return Self::internal(error);
        }
        let (code, message) = if error.is_timeout() {
            (
                "database_timeout",
                "The request exceeded the time limit of the hub's database and had no effect; try again.",
            )
        } else if error.is_storage_full() {
            ("database_unavailable", "The disk of the hub's database is full; the operator must free space.")
        } else {
            ("database_unavailable", "The hub's database is unreachable or overloaded; try again.")
        };
        let mut unavailable = Self::new(StatusCode::SERVICE_UNAVAILABLE, code, message).retry_after(1);
        unavailable.cause = Some(Arc::new(error));
        unavailable
    }
}

/// Leaves the body to [`super::request_id::layer`], which knows the request id.
impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// Body of every error.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorBody {
    /// Message for people.
    #[schema(example = "No API key; send it in the header X-Service-Api-Key.")]
    pub error: String,
    /// Stable code for programs.
    #[schema(value_type = ErrorCode, example = "unauthenticated")]
    pub code: String,
    /// Same as the response's `X-Request-Id`.
    #[schema(example = "Zk3vXq0aP1mB7s2T")]
    pub request_id: String,
    /// Code-specific fields.
    #[serde(flatten)]
    pub details: ErrorDetails,
}

/// Additional fields of some error codes.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorDetails {
    /// For `quota_exceeded`: name of the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false, example = "servers")]
    pub limit: Option<Cow<'static, str>>,
    /// For `quota_exceeded`: value of the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = 1000)]
    pub value: Option<i64>,
    /// For `quota_exceeded`: current usage.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = 1000)]
    pub used: Option<i64>,
    /// For `insufficient_funds` and `over_maximum` in a transaction: index of the first failed operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = 0)]
    pub operation: Option<usize>,
    /// For `grant_needed`: permissions that the module needs and the link does not grant.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub needed: Option<NeededGrants>,
    /// For `refused_effect`: index of the effect; absent if the module's state was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = 0)]
    pub effect: Option<usize>,
    /// For `refused_effect`: code of the refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false, example = "insufficient_funds")]
    pub reason: Option<Cow<'static, str>>,
    /// For `login_refused`: answer of the network's modules.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub login: Option<LoginVerdict>,
    /// For `revision_changed`: both values.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub changed: Option<Box<ChangedValue>>,
}

/// Answer of the network's modules about a player who joins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LoginVerdict {
    /// False: the player is not to be let in.
    #[schema(example = false)]
    pub allowed: bool,
    /// For the player; null if they are allowed.
    #[schema(example = "Accounts must be a day old.")]
    pub reason: Option<String>,
    /// For connectors, such as `vpn`; `module_failed` if the modules could not decide; null if the player is allowed.
    #[schema(example = "young_account")]
    pub kind: Option<String>,
}

impl LoginVerdict {
    /// The answer without modules.
    pub const ALLOWED: Self = Self { allowed: true, reason: None, kind: None };

    /// A refusal.
    pub fn refused(reason: String, kind: String) -> Self {
        Self { allowed: false, reason: Some(reason), kind: Some(kind) }
    }
}

/// A value that has changed since its caller read it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedValue {
    /// Revision of `If-Match`.
    #[schema(example = 6)]
    pub expected: i64,
    /// Value at that revision; null if it is not kept.
    #[schema(value_type = Option<Object>, example = json!({"modules": []}))]
    pub before: Option<serde_json::Value>,
    /// Current revision.
    #[schema(example = 7)]
    pub revision: i64,
    /// Current value.
    #[schema(value_type = Object, example = json!({"modules": [{"name": "region-first", "version": 2}]}))]
    pub now: serde_json::Value,
}

/// Permissions that a module needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NeededGrants {
    /// Scopes of its effects and of the events it reads.
    #[schema(example = json!(["economy:write"]))]
    pub scopes: Vec<String>,
    /// Hosts it fetches from.
    #[schema(example = json!(["api.tebex.io"]))]
    pub hosts: Vec<String>,
    /// Names of secrets.
    #[schema(example = json!(["TEBEX"]))]
    pub secrets: Vec<String>,
    /// Patterns of permission nodes that it sets.
    #[schema(example = json!(["rank.*"]))]
    pub permission_nodes: Vec<String>,
    /// First words of commands that it runs.
    #[schema(example = json!(["say"]))]
    pub commands: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_took_too_long_is_told_from_a_database_that_is_not_there() {
        for (error, status, code) in [
            (hub_db::Error::TimedOut, 503, "database_timeout"),
            (hub_db::Error::Busy, 503, "database_unavailable"),
            (hub_db::Error::Closed, 503, "database_unavailable"),
            (hub_db::Error::StorageFull, 503, "database_unavailable"),
            (hub_db::Error::Aborted, 500, "internal"),
        ] {
            let error = ApiError::from(error);
            assert_eq!((error.status().as_u16(), error.code()), (status, code));
        }
    }
}
