//! `If-Match`: changes that are made only if nobody else changed the thing since its caller read it.

use axum::extract::FromRequestParts;
use axum::http::header::{ETAG, IF_MATCH};
use axum::http::request::Parts;
use axum::http::{HeaderName, StatusCode};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::http::error::{ApiError, ChangedValue, ErrorDetails};

/// Description of the header in the API document.
pub const IF_MATCH_DESCRIPTION: &str =
    "Revision that the change was made from; another one is 409 `revision_changed`. Default: any";

/// Revision of `If-Match`; none if the caller changes whichever there is.
#[derive(Clone, Copy, Debug)]
pub struct IfMatch(pub Option<i64>);

impl<S: Send + Sync> FromRequestParts<S> for IfMatch {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let mut sent = parts.headers.get_all(IF_MATCH).iter();
        let Some(value) = sent.next() else { return Ok(Self(None)) };
        let revision = value.to_str().ok().filter(|_| sent.next().is_none()).and_then(parse);
        revision
            .map(Self)
            .ok_or_else(|| ApiError::invalid("The header `If-Match` must be one revision, such as \"7\"."))
    }
}

/// A change of a value that somebody else changed meanwhile.
#[derive(Debug, Error)]
#[error("Somebody changed this since revision {}; it is at revision {} now.", .0.expected, .0.revision)]
pub struct Changed(Box<ChangedValue>);

impl Changed {
    /// The same for somebody who may not read the value.
    pub fn without_value(mut self) -> Self {
        self.0.now = serde_json::Value::Null;
        self
    }
}

impl From<Changed> for ApiError {
    fn from(changed: Changed) -> Self {
        let message = changed.to_string();
        let details = ErrorDetails { changed: Some(changed.0), ..ErrorDetails::default() };
        Self::new(StatusCode::CONFLICT, "revision_changed", message).details(details)
    }
}

impl IfMatch {
    /// Refuses the change of a value that is another one now. None is at revision 0.
    ///
    /// # Errors
    /// Both revisions, and the value.
    pub fn check<T: Serialize>(self, now: Option<&T>) -> Result<(), Changed> {
        let Some(expected) = self.0 else { return Ok(()) };
        let revision = now.map_or(0, revision_of);
        if revision == expected {
            return Ok(());
        }
        let now = now.map(serde_json::to_value).and_then(Result::ok).unwrap_or_default();
        Err(Changed(Box::new(ChangedValue { expected, before: None, revision, now })))
    }
}

/// Revision of a value whose table has none: a digest, which another value has not. Never 0, and exact as a number of
/// JavaScript.
pub fn revision_of<T: Serialize>(value: &T) -> i64 {
    let text = serde_json::to_vec(value).unwrap_or_default();
    let digest = Sha256::digest(&text);
    let first = digest.iter().take(6).fold(0_i64, |number, byte| number << 8 | i64::from(*byte));
    first.max(1)
}

/// A revision as the header `ETag`.
pub fn entity_tag(revision: i64) -> [(HeaderName, String); 1] {
    [(ETAG, format!("\"{revision}\""))]
}

/// Parses a revision, quoted or not; `*` is any. Outer none: it is neither.
#[allow(clippy::option_option, reason = "invalid, any, or one")]
fn parse(text: &str) -> Option<Option<i64>> {
    let text = text.trim();
    if text == "*" {
        return Some(None);
    }
    let number = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text);
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| number.parse().ok()).flatten().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_changed_only_at_its_revision() {
        let (one, other) = (revision_of(&"one"), revision_of(&"other"));
        assert!(one > 0 && other > 0 && one != other && one < 1 << 53);
        let check = |expected, now: Option<&&str>| IfMatch(expected).check(now).map_err(|changed| changed.0.revision);
        assert_eq!(
            (check(None, Some(&"one")), check(Some(one), Some(&"one")), check(Some(0), None)),
            (Ok(()), Ok(()), Ok(()))
        );
        assert_eq!((check(Some(one), Some(&"other")), check(Some(one), None)), (Err(other), Err(0)));
        assert_eq!(check(Some(0), Some(&"one")), Err(one));
    }

    #[test]
    fn a_revision_is_quoted_or_not() {
        assert_eq!((parse("7"), parse(" \"7\" "), parse("0")), (Some(Some(7)), Some(Some(7)), Some(Some(0))));
        assert_eq!(parse("*"), Some(None));
        for bad in ["", "\"\"", "-1", "7, 8", "W/\"7\"", "seven", "99999999999999999999"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
