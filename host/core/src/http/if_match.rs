//! `If-Match`: changes that are made only if nobody else changed the thing since its caller read it.

use axum::extract::FromRequestParts;
use axum::http::HeaderName;
use axum::http::header::{ETAG, IF_MATCH};
use axum::http::request::Parts;

use crate::http::error::ApiError;

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
    fn a_revision_is_quoted_or_not() {
        assert_eq!((parse("7"), parse(" \"7\" "), parse("0")), (Some(Some(7)), Some(Some(7)), Some(Some(0))));
        assert_eq!(parse("*"), Some(None));
        for bad in ["", "\"\"", "-1", "7, 8", "W/\"7\"", "seven", "99999999999999999999"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
