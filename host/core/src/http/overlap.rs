//! Time for which a replaced secret stays valid.

use crate::clock::Millis;
use crate::http::error::ApiError;

/// Maximum time: a replaced secret must end.
const MAX_OVERLAP: Millis = 30 * 24 * 60 * 60 * 1000;

/// Checks `overlapMs` of a body.
pub fn overlap(sent: Option<Millis>, default: Millis) -> Result<Millis, ApiError> {
    let overlap = sent.unwrap_or(default);
    if (0..=MAX_OVERLAP).contains(&overlap) {
        return Ok(overlap);
    }
    Err(ApiError::invalid(format!("In the body, `overlapMs`: must be 0 to {MAX_OVERLAP}.")))
}
