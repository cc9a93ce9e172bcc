//! Keys by which repeats of a request are recognised.

use std::time::Duration;

use axum::http::HeaderMap;
use hub_sandbox::contract::endpoints::CallerKind;
use hub_sandbox::manifest::{Dedupe, Endpoint, Method, Signature};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::signature::single;
use crate::http::error::ApiError;

/// Time for which a repeat with the manifest's key gets the first answer.
const DEDUPE_TTL: Duration = Duration::from_hours(30 * 24);
/// The same for an `Idempotency-Key`.
const IDEMPOTENCY_TTL: Duration = Duration::from_hours(24);
const MAX_KEY: usize = 256;

/// Key of a request.
pub(super) struct RequestKey {
    /// Its text, for the module.
    pub(super) text: String,
    /// SHA-256 of its kind and text: the text may name a player.
    pub(super) sha256: Vec<u8>,
    /// SHA-256 of the request, which a repeat must equal; none if the manifest's key alone decides.
    pub(super) fingerprint: Option<Vec<u8>>,
    pub(super) ttl: Duration,
}

/// The key of a request; none if its repeats are requests of their own.
pub(super) fn of(
    endpoint: &Endpoint,
    caller: CallerKind,
    headers: &HeaderMap,
    target: &str,
    body: &[u8],
) -> Result<Option<RequestKey>, ApiError> {
    if endpoint.method == Method::Get {
        return Ok(None);
    }
    let by_webhook = matches!(endpoint.signature, Some(Signature::StandardWebhooks { .. }));
    let by_webhook = (by_webhook && caller == CallerKind::Signed).then(|| Dedupe::Header("webhook-id".to_owned()));
    if let Some(dedupe) = endpoint.dedupe.as_ref().or(by_webhook.as_ref()) {
        let text = value(dedupe, headers, body).filter(|text| (1..=MAX_KEY).contains(&text.chars().count()));
        let text = text.filter(|text| !text.contains('\0')).ok_or_else(|| missing(dedupe))?;
        let sha256 = Sha256::digest(format!("dedupe\n{text}")).to_vec();
        return Ok(Some(RequestKey { text, sha256, fingerprint: None, ttl: DEDUPE_TTL }));
    }
    // Strangers would occupy keys.
    if caller == CallerKind::Public || !headers.contains_key("idempotency-key") {
        return Ok(None);
    }
    let text =
        single(headers, "idempotency-key").filter(|text| (1..MAX_KEY).contains(&text.len())).ok_or_else(|| {
            ApiError::invalid("The header Idempotency-Key must occur once, with 1 to 255 printable ASCII characters.")
        })?;
    let mut digest = Sha256::new();
    for part in [endpoint.method.name().as_bytes(), target.as_bytes(), body] {
        digest.update(part.len().to_be_bytes());
        digest.update(part);
    }
    Ok(Some(RequestKey {
        text: text.to_owned(),
        sha256: Sha256::digest(format!("idempotency\n{text}")).to_vec(),
        fingerprint: Some(digest.finalize().to_vec()),
        ttl: IDEMPOTENCY_TTL,
    }))
}

fn value(dedupe: &Dedupe, headers: &HeaderMap, body: &[u8]) -> Option<String> {
    match dedupe {
        Dedupe::Header(name) => single(headers, name).map(str::to_owned),
        Dedupe::Json(place) => match serde_json::from_slice::<Value>(body).ok()?.pointer(place)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        },
    }
}

fn missing(dedupe: &Dedupe) -> ApiError {
    let place = match dedupe {
        Dedupe::Header(name) => format!("The header `{name}`"),
        Dedupe::Json(place) => format!("The body's `{place}`"),
    };
    ApiError::bad_request("missing_dedupe", format!("{place} must be there, with 1 to {MAX_KEY} characters."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(extra: &str) -> Endpoint {
        serde_json::from_str(&format!(r#"{{"name": "a", "method": "POST", "path": "a" {extra}}}"#)).unwrap()
    }

    fn key(extra: &str, caller: CallerKind, body: &str, sent: &[(&'static str, &'static str)]) -> Option<String> {
        let headers = sent.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        let found = of(&endpoint(extra), caller, &headers, "/a", body.as_bytes());
        found.map_or_else(|error| Some(error.code().to_owned()), |key| key.map(|key| key.text))
    }

    #[test]
    fn the_manifest_decides_before_the_header() {
        let (json, header) = (r#", "dedupe": {"json": "/id"}"#, r#", "dedupe": {"header": "x-id"}"#);
        let sent = &[("idempotency-key", "k"), ("x-id", "h")];
        let public = CallerKind::Public;
        assert_eq!(key(json, public, r#"{"id": "8812"}"#, sent).unwrap(), "8812");
        assert_eq!(key(json, public, r#"{"id": 8812}"#, sent).unwrap(), "8812");
        assert_eq!(key(header, public, "", sent).unwrap(), "h");
        assert_eq!(key(json, public, "{}", sent).unwrap(), "missing_dedupe");
        assert_eq!(key(json, public, r#"{"id": ""}"#, sent).unwrap(), "missing_dedupe");
        assert_eq!(key("", CallerKind::Key, "", sent).unwrap(), "k");
        assert_eq!(key("", public, "", sent), None, "a stranger's");
        assert_eq!(key("", CallerKind::Key, "", &[]), None);
        assert_eq!(key("", CallerKind::Key, "", &[("idempotency-key", "")]).unwrap(), "invalid_request");
        let webhook = r#", "public": true, "signature": {"kind": "STANDARD_WEBHOOKS", "secret": "S"}"#;
        assert_eq!(key(webhook, CallerKind::Signed, "", &[("webhook-id", "m")]).unwrap(), "m");
    }
}
