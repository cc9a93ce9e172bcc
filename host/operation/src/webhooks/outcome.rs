//! Interpretation of an attempt's answer.

use std::time::Duration;

use jiff::fmt::rfc2822::DateTimeParser;
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};

use crate::clock::Millis;
use crate::webhooks::model::WebhookKind;

/// Consequence of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It arrived.
    Delivered,
    /// Retry, not before the time that the receiver asked for.
    Retry(Option<Duration>),
    /// The receiver will never accept this message.
    Refused,
    /// The receiver will never accept anything.
    Gone,
}

/// An attempt.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    pub(super) verdict: Verdict,
    pub(super) status: Option<u16>,
    pub(super) error: Option<String>,
    /// Time for which the receiver accepts no further messages.
    pub(super) quiet: Option<Duration>,
    pub(super) duration: Duration,
}

/// Verdict on an answer at `now`.
pub(super) fn verdict(kind: WebhookKind, status: StatusCode, headers: &HeaderMap, now: Millis) -> Verdict {
    if status.is_success() {
        return Verdict::Delivered;
    }
    match (kind, status.as_u16()) {
        (_, 410) | (WebhookKind::Discord, 401 | 403 | 404) => Verdict::Gone,
        (WebhookKind::Discord, 400 | 413) => Verdict::Refused,
        _ => Verdict::Retry(seconds(headers, RETRY_AFTER.as_str()).or_else(|| time_until(headers, now))),
    }
}

/// Time for which Discord accepts no further messages, if this answer used up its rate limit.
pub(super) fn quiet(kind: WebhookKind, headers: &HeaderMap) -> Option<Duration> {
    let is_used_up = headers.get("x-ratelimit-remaining").is_some_and(|left| left == "0");
    let reset = seconds(headers, "x-ratelimit-reset-after");
    reset.filter(|_| kind == WebhookKind::Discord && is_used_up)
}

/// Seconds in a header, which Discord sends with a fraction.
fn seconds(headers: &HeaderMap, name: &str) -> Option<Duration> {
    let text = headers.get(name)?.to_str().ok()?;
    Duration::try_from_secs_f64(text.trim().parse().ok()?).ok()
}

/// Duration until the time in `Retry-After`, if there is one.
fn time_until(headers: &HeaderMap, now: Millis) -> Option<Duration> {
    let at = DateTimeParser::new().parse_timestamp(headers.get(RETRY_AFTER)?.to_str().ok()?).ok()?;
    u64::try_from(at.as_millisecond().saturating_sub(now)).ok().map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_understood() {
        let mut headers = HeaderMap::new();
        let of = |kind, status: u16, headers: &HeaderMap| {
            verdict(kind, StatusCode::from_u16(status).unwrap(), headers, 1_445_412_420_000)
        };
        let (standard, discord) = (WebhookKind::Standard, WebhookKind::Discord);
        for status in [200, 201, 204, 299] {
            assert_eq!(of(standard, status, &headers), Verdict::Delivered);
        }
        for status in [301, 302, 307, 400, 401, 404, 408, 500, 503] {
            assert_eq!(of(standard, status, &headers), Verdict::Retry(None), "{status}");
        }
        assert_eq!(of(standard, 410, &headers), Verdict::Gone);
        assert_eq!(of(discord, 404, &headers), Verdict::Gone);
        assert_eq!(of(discord, 400, &headers), Verdict::Refused);
        headers.insert(RETRY_AFTER, "1.5".parse().unwrap());
        assert_eq!(of(discord, 429, &headers), Verdict::Retry(Some(Duration::from_millis(1_500))));
        assert_eq!(of(standard, 502, &headers), Verdict::Retry(Some(Duration::from_millis(1_500))));
        // A minute later, and a minute ago.
        headers.insert(RETRY_AFTER, "Wed, 21 Oct 2015 07:28:00 GMT".parse().unwrap());
        assert_eq!(of(standard, 429, &headers), Verdict::Retry(Some(Duration::from_secs(60))));
        headers.insert(RETRY_AFTER, "Wed, 21 Oct 2015 07:26:00 GMT".parse().unwrap());
        assert_eq!(of(standard, 429, &headers), Verdict::Retry(None));
        headers.insert(RETRY_AFTER, "-5".parse().unwrap());
        assert_eq!(of(standard, 503, &headers), Verdict::Retry(None));
        headers.insert("x-ratelimit-reset-after", "0.25".parse().unwrap());
        headers.insert("x-ratelimit-remaining", "1".parse().unwrap());
        assert_eq!(quiet(discord, &headers), None);
        headers.insert("x-ratelimit-remaining", "0".parse().unwrap());
        assert_eq!((quiet(discord, &headers), quiet(standard, &headers)), (Some(Duration::from_millis(250)), None));
    }
}
