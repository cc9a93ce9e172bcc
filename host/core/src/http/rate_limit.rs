//! Headers `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers), with the caller's rates.

use std::fmt::Write as _;

use axum::http::{HeaderMap, HeaderName, HeaderValue};

static POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
static LIMIT: HeaderName = HeaderName::from_static("ratelimit");

/// A rate and its remaining quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateState {
    /// Name of the rate, in letters and hyphens.
    pub policy: &'static str,
    /// Maximum burst.
    pub quota: i64,
    /// Seconds in which the quota is refilled.
    pub window: i64,
    /// Remaining quota.
    pub remaining: i64,
    /// Seconds until the quota is full.
    pub reset: i64,
}

/// Writes the headers; none without a rate.
pub(crate) fn write(rates: &[RateState], headers: &mut HeaderMap) {
    if rates.is_empty() {
        return;
    }
    let (mut policy, mut limit) = (String::new(), String::new());
    for rate in rates {
        let comma = if policy.is_empty() { "" } else { ", " };
        let RateState { policy: name, quota, window, remaining, reset } = rate;
        // Writing to a string cannot fail.
        let _ = write!(policy, "{comma}\"{name}\";q={quota};w={window}");
        let _ = write!(limit, "{comma}\"{name}\";r={remaining};t={reset}");
    }
    for (name, value) in [(&POLICY, policy), (&LIMIT, limit)] {
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(name.clone(), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rate_is_an_item_of_both_headers() {
        let rates = [
            RateState { policy: "key", quota: 10, window: 1, remaining: 9, reset: 1 },
            RateState { policy: "network", quota: 600, window: 6, remaining: 0, reset: 6 },
        ];
        let mut headers = HeaderMap::new();
        write(&[], &mut headers);
        assert!(headers.is_empty());
        write(&rates, &mut headers);
        assert_eq!(headers["ratelimit-policy"], r#""key";q=10;w=1, "network";q=600;w=6"#);
        assert_eq!(headers["ratelimit"], r#""key";r=9;t=1, "network";r=0;t=6"#);
    }
}
