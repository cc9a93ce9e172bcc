//! Refusals of the hub, shown as pages or beside the form that was refused.

use axum::http::StatusCode;
use serde::Serialize;
use serde_json::Value;

/// Reason for which the hub did not do something.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Refusal {
    #[serde(serialize_with = "as_number")]
    pub(crate) status: StatusCode,
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) request_id: Option<String>,
    /// Seconds after which to try again.
    pub(crate) retry_after: Option<u64>,
    /// All fields of the hub's answer.
    pub(crate) details: Box<Value>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn as_number<S: serde::Serializer>(status: &StatusCode, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u16(status.as_u16())
}

impl Refusal {
    pub(crate) fn new(code: &str, message: &str, status: StatusCode) -> Self {
        let (code, message) = (code.to_owned(), message.to_owned());
        Self { status, code, message, request_id: None, retry_after: None, details: Box::default() }
    }

    /// Reads the body of an error.
    pub(crate) fn of_hub(status: StatusCode, body: &[u8], retry_after: Option<u64>) -> Self {
        let details: Value = serde_json::from_slice(body).unwrap_or_default();
        let text = |name: &str| details[name].as_str().map(str::to_owned);
        Self {
            status,
            code: text("code").unwrap_or_default(),
            message: text("error").unwrap_or_else(|| status.to_string()),
            request_id: text("requestId"),
            retry_after,
            details: Box::new(details),
        }
    }

    /// A page, or what is on it, is not there.
    pub(crate) fn not_found() -> Self {
        Self::new(
            "unknown_page",
            "There is no such page, or it is of a network that you are not in.",
            StatusCode::NOT_FOUND,
        )
    }

    /// A fault of the console itself.
    #[allow(clippy::needless_pass_by_value, reason = "for map_err")]
    pub(crate) fn fault(error: impl std::fmt::Display) -> Self {
        let fault = Self::new("internal", "The hub failed to make this page.", StatusCode::INTERNAL_SERVER_ERROR);
        Self { details: Box::new(error.to_string().into()), ..fault }
    }

    /// True if the person has to sign in.
    pub(crate) fn is_of_stranger(&self) -> bool {
        self.status == StatusCode::UNAUTHORIZED && self.code == "unauthenticated"
    }

    /// True if a part of a page is left out for this reason: the person may not see it, or this hub does not have it.
    pub(crate) fn leaves_out(&self) -> bool {
        matches!(self.code.as_str(), "forbidden_scope" | "unknown_route")
    }
}
