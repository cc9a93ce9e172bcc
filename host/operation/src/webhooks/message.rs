//! Body and headers of a request to a webhook.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use jiff::Timestamp;
use serde_json::Value;

use crate::clock::Millis;
use crate::compute::Turn;
use crate::mac::hmac_sha256;
use crate::webhooks::discord;
use crate::webhooks::model::{Delivery, SECRET_PREFIX, Webhook, WebhookKind};

/// A request to a webhook.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) body: String,
    pub(super) headers: Vec<(&'static str, String)>,
}

impl Message {
    /// An attempt at `now`. The body is the same in all of them.
    pub(super) fn new(turn: &Turn, webhook: &Webhook, delivery: &Delivery, now: Millis) -> Self {
        match webhook.kind {
            WebhookKind::Standard => {
                let body = standard_body(delivery);
                let headers = signature_headers(webhook, &delivery.message_id, now, &body);
                Self { body, headers }
            }
            WebhookKind::Discord => {
                let event: Value = serde_json::from_str(&delivery.data).unwrap_or_default();
                let body = discord::message(turn, &webhook.templates, &delivery.event, &event).to_string();
                Self { body, headers: vec![] }
            }
        }
    }
}

/// The event in its form on streams, in the envelope that Standard Webhooks recommends.
fn standard_body(delivery: &Delivery) -> String {
    let at = Timestamp::from_millisecond(delivery.event_at).unwrap_or_default();
    format!(r#"{{"type":"{}","timestamp":"{at:.3}","data":{}}}"#, delivery.event, delivery.data)
}

fn signature_headers(webhook: &Webhook, id: &str, now: Millis, body: &str) -> Vec<(&'static str, String)> {
    let timestamp = now.div_euclid(1_000);
    let secrets = webhook.secrets(now).filter(|secret| !secret.is_empty());
    let signatures: Vec<_> = secrets.map(|secret| sign(secret.expose(), id, timestamp, body)).collect();
    vec![
        ("webhook-id", id.to_owned()),
        ("webhook-timestamp", timestamp.to_string()),
        ("webhook-signature", signatures.join(" ")),
    ]
}

/// Reads a stored secret: one that does not decode would sign with nothing.
pub(super) fn check_secret(secret: &str) -> Result<(), String> {
    let key = BASE64_STANDARD.decode(secret.strip_prefix(SECRET_PREFIX).unwrap_or(secret)).unwrap_or_default();
    (!key.is_empty()).then_some(()).ok_or_else(|| "must be a secret of a webhook".to_owned())
}

/// Signature of Standard Webhooks: over id, time and body, with the decoded bytes of the secret.
fn sign(secret: &str, id: &str, timestamp: i64, body: &str) -> String {
    let key = secret.strip_prefix(SECRET_PREFIX).unwrap_or(secret);
    // The hub generated the secret, so it is valid base64.
    let key = BASE64_STANDARD.decode(key).unwrap_or_default();
    let mac = hmac_sha256(&key, format!("{id}.{timestamp}.{body}").as_bytes());
    format!("v1,{}", BASE64_STANDARD.encode(mac))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Example of the specification's reference libraries.
    #[test]
    fn signatures_match_standard_webhooks() {
        let signature = sign(
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            r#"{"test": 2432232314}"#,
        );
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }
}
