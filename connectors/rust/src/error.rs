//! Failures of calls.

use std::error::Error;
use std::time::Duration;

use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{StatusCode, Url};
use serde_json::Value;

/// Failure of a call. [`HubError::code`] is stable and for programs, [`HubError::message`] is a sentence for people.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HubError {
    /// The hub refused the call, or something in front of it did.
    #[error("the hub answered {}: {}", .0.status, .0.message)]
    Refused(Box<Refusal>),
    /// No answer came: the request may or may not have been carried out.
    #[error("the hub at {base} does not answer")]
    Unreachable {
        /// The hub's address.
        base: String,
        /// Description of the failure.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The answer is not a hub's.
    #[error("the hub's answer can't be read: {0}")]
    InvalidAnswer(String),
    /// The request cannot be sent, such as for an address that is none.
    #[error("{0}")]
    InvalidRequest(String),
    /// The connector itself refused, or gave up waiting.
    #[error("{message}")]
    Connector {
        /// `muted`, `world_timeout`, `stopped`, `no_session`, `stale_session` or `not_saved`.
        code: &'static str,
        /// A sentence for people.
        message: String,
    },
}

/// An error that the hub answered.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Refusal {
    /// The HTTP status.
    pub status: StatusCode,
    /// The stable code, such as `insufficient_funds`.
    pub code: String,
    /// A sentence for people.
    pub message: String,
    /// The request's id in the hub's log, to be quoted in reports.
    pub request_id: Option<String>,
    /// Wait that the hub asks for before the next attempt.
    pub retry_after: Option<Duration>,
    /// All fields of the error, such as `limit`, `value` and `used` of `quota_exceeded`.
    pub details: Value,
}

impl HubError {
    /// The stable code: the hub's, or `unreachable`, `invalid_answer`, `invalid_request`, `muted`, `world_timeout`, `stopped`,
    /// `no_session`, `not_saved`.
    pub fn code(&self) -> &str {
        match self {
            Self::Refused(refusal) => &refusal.code,
            Self::Unreachable { .. } => "unreachable",
            Self::InvalidAnswer(_) => "invalid_answer",
            Self::InvalidRequest(_) => "invalid_request",
            Self::Connector { code, .. } => code,
        }
    }

    /// True if the error has this code.
    pub fn is(&self, code: &str) -> bool {
        self.code() == code
    }

    /// A sentence for people, without the status.
    pub fn message(&self) -> String {
        match self {
            Self::Refused(refusal) => refusal.message.clone(),
            Self::Unreachable { source, .. } => format!("{self}: {}", innermost(source.as_ref())),
            _ => self.to_string(),
        }
    }

    /// The hub's refusal, if it answered.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }

    /// The HTTP status, where there was an answer.
    pub fn status(&self) -> Option<StatusCode> {
        self.refusal().map(|refusal| refusal.status)
    }

    /// Wait that the hub asks for.
    pub fn retry_after(&self) -> Option<Duration> {
        self.refusal()?.retry_after
    }

    /// True if a later attempt may succeed: no answer, a hub that is stopping or overloaded, or a rate limit.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Refused(refusal) => matches!(refusal.status.as_u16(), 429 | 502 | 503 | 504),
            _ => false,
        }
    }

    pub(crate) fn of_request(base: &Url, source: reqwest::Error) -> Self {
        if source.is_builder() {
            return Self::InvalidRequest(format!("the request is invalid: {}", innermost(&source)));
        }
        Self::unreachable(base, source.without_url())
    }

    pub(crate) fn unreachable(base: &Url, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Unreachable { base: base.as_str().trim_end_matches('/').to_owned(), source: source.into() }
    }

    /// True if the request certainly never reached the hub.
    pub(crate) fn was_never_sent(&self) -> bool {
        let Self::Unreachable { source, .. } = self else { return false };
        source.downcast_ref::<reqwest::Error>().is_some_and(reqwest::Error::is_connect)
    }

    /// Returns the error of an answer.
    pub(crate) fn of_answer(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Self {
        let details: Value = serde_json::from_slice(body).unwrap_or_default();
        let text = |field: &str| details[field].as_str().map(str::to_owned);
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        // A gateway in front of the hub answers in a way of its own.
        let code = text("code").unwrap_or_else(|| format!("http_{}", status.as_u16()));
        let message = text("error").unwrap_or_else(|| String::from_utf8_lossy(body).into_owned());
        let request_id = header("x-request-id").map(str::to_owned).or_else(|| text("requestId"));
        let retry_after = header(RETRY_AFTER.as_str()).and_then(|value| value.trim().parse().ok());
        let retry_after = retry_after.map(Duration::from_secs);
        Self::Refused(Box::new(Refusal { status, code, message, request_id, retry_after, details }))
    }
}

/// Returns the first cause of an error.
fn innermost(mut error: &(dyn Error + 'static)) -> String {
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
