//! Signatures of requests, which are compared in constant time.

use axum::http::HeaderMap;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hub_sandbox::manifest::{Encoding, Signature, Signed};
use ring::signature::{ED25519, UnparsedPublicKey};
use ring::{digest, hmac};

use crate::clock::Millis;
use crate::values::hex;

/// Greatest difference between a request's time and the hub's.
const TOLERANCE_MS: Millis = 5 * 60 * 1_000;
/// Signatures of one request that are tried.
const MAX_SIGNATURES: usize = 8;

/// A header that is there once.
pub(super) fn single<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut all = headers.get_all(name).iter();
    match (all.next(), all.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

/// True if the request is signed by one of the secret's values.
pub(super) fn is_good(
    signature: &Signature,
    secrets: &[impl AsRef<str>],
    headers: &HeaderMap,
    body: &[u8],
    now: Millis,
) -> bool {
    // Anybody could sign with an empty key.
    let usable = |secret: &&str| !webhook_key(secret).is_empty();
    let any = |check: &dyn Fn(&str) -> bool| secrets.iter().map(AsRef::as_ref).filter(usable).any(check);
    match signature {
        Signature::HmacSha256 { header, encoding, prefix, of, .. } => {
            let sent = single(headers, header).and_then(|value| value.strip_prefix(prefix.as_str()));
            let Some(sent) = sent.and_then(|text| decoded(text, *encoding)) else { return false };
            let hashed;
            let message = match of {
                Signed::Body => body,
                Signed::BodySha256 => {
                    hashed = hex(digest::digest(&digest::SHA256, body).as_ref());
                    hashed.as_bytes()
                }
            };
            any(&|secret| is_mac(secret.as_bytes(), &[message], &sent))
        }
        Signature::StandardWebhooks { .. } => {
            let (id, time) = (single(headers, "webhook-id"), single(headers, "webhook-timestamp"));
            let (Some(id), Some(time), Some(sent)) = (id, time, single(headers, "webhook-signature")) else {
                return false;
            };
            if !is_recent(time, now) {
                return false;
            }
            let sent = sent.split(' ').filter_map(|one| one.strip_prefix("v1,")).take(MAX_SIGNATURES);
            let sent: Vec<_> = sent.filter_map(|one| BASE64.decode(one).ok()).collect();
            let message = [id.as_bytes(), b".", time.as_bytes(), b".", body];
            any(&|secret| sent.iter().any(|sent| is_mac(&webhook_key(secret), &message, sent)))
        }
        Signature::Discord { .. } => {
            let (time, sent) = (single(headers, "x-signature-timestamp"), single(headers, "x-signature-ed25519"));
            let (Some(time), Some(sent)) = (time, sent.and_then(unhex)) else { return false };
            if !is_recent(time, now) {
                return false;
            }
            let message = [time.as_bytes(), body].concat();
            any(&|secret| {
                unhex(secret).is_some_and(|key| UnparsedPublicKey::new(&ED25519, key).verify(&message, &sent).is_ok())
            })
        }
    }
}

fn is_recent(seconds: &str, now: Millis) -> bool {
    let at = seconds.parse::<i64>().ok().and_then(|seconds| seconds.checked_mul(1_000));
    at.and_then(|at| now.checked_sub(at)).is_some_and(|age| (-TOLERANCE_MS..=TOLERANCE_MS).contains(&age))
}

fn is_mac(key: &[u8], message: &[&[u8]], sent: &[u8]) -> bool {
    hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, key), &message.concat(), sent).is_ok()
}

/// The key of a secret of Standard Webhooks: base64 after `whsec_`, otherwise the text itself.
fn webhook_key(secret: &str) -> Vec<u8> {
    let key = secret.strip_prefix("whsec_").and_then(|text| BASE64.decode(text).ok());
    key.unwrap_or_else(|| secret.as_bytes().to_vec())
}

fn decoded(text: &str, encoding: Encoding) -> Option<Vec<u8>> {
    match encoding {
        Encoding::Hex => unhex(text),
        Encoding::Base64 => BASE64.decode(text).ok(),
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<_> = text.chars().map(|digit| digit.to_digit(16)).collect::<Option<_>>()?;
    let pairs = digits.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    pairs.map(|pair| u8::try_from(pair[0] * 16 + pair[1]).ok()).collect()
}

#[cfg(test)]
mod tests {
    use ring::signature::{Ed25519KeyPair, KeyPair as _};

    use super::*;
    const NOW: Millis = 1_800_000_000_000;
    const BODY: &[u8] = br#"{"id":"8812"}"#;

    fn headers(all: &[(&'static str, &str)]) -> HeaderMap {
        all.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    fn mac(key: &[u8], message: &[u8]) -> Vec<u8> {
        hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), message).as_ref().to_vec()
    }

    #[test]
    fn a_mac_of_the_raw_body_is_good_in_its_encoding() {
        let signature = |encoding, prefix: &str| Signature::HmacSha256 {
            secret: "S".into(),
            header: "x-signature".into(),
            encoding,
            prefix: prefix.into(),
            of: Signed::Body,
        };
        let (hex_form, base64) = (hex(&mac(b"s", BODY)), BASE64.encode(mac(b"s", BODY)));
        let good = |signature: &Signature, sent: &str, secrets: &[&str], body: &[u8]| {
            is_good(signature, secrets, &headers(&[("x-signature", sent)]), body, NOW)
        };
        let plain = signature(Encoding::Hex, "");
        assert!(good(&plain, &hex_form, &["s"], BODY));
        assert!(good(&plain, &hex_form.to_uppercase(), &["s"], BODY));
        assert!(good(&plain, &hex_form, &["new", "s"], BODY), "while the secret is rolled");
        assert!(good(&signature(Encoding::Base64, "sha256="), &format!("sha256={base64}"), &["s"], BODY));
        assert!(!good(&plain, &hex_form, &["other"], BODY));
        assert!(!good(&plain, &hex_form, &[], BODY));
        assert!(!good(&plain, &hex_form, &["s"], br#"{"id": "8812"}"#));
        assert!(!good(&plain, &hex_form[..62], &["s"], BODY));
        assert!(!good(&plain, "", &["s"], BODY));
        assert!(!good(&signature(Encoding::Hex, "sha256="), &hex_form, &["s"], BODY));
        let twice = headers(&[("x-signature", &hex_form), ("x-signature", &hex_form)]);
        assert!(!is_good(&plain, &["s"], &twice, BODY, NOW));
    }

    /// The secret and the MAC are what PHP's `hash_hmac("sha256", hash("sha256", $json), $secret)` gives.
    #[test]
    fn a_mac_of_the_digest_is_good_for_its_body_alone() {
        let signature = |of| Signature::HmacSha256 {
            secret: "S".into(),
            header: "x-signature".into(),
            encoding: Encoding::Hex,
            prefix: String::new(),
            of,
        };
        let good = |of, sent: &str, body: &[u8]| {
            is_good(&signature(of), &["tebex secret"], &headers(&[("x-signature", sent)]), body, NOW)
        };
        let sent = "39b222f76bc7348880591bc2292bb5724b021ad24e8d682c21f7b4c79a0f6425";
        assert!(good(Signed::BodySha256, sent, BODY));
        assert!(!good(Signed::Body, sent, BODY));
        assert!(!good(Signed::BodySha256, sent, br#"{"id": "8812"}"#));
        assert!(!good(Signed::BodySha256, &hex(&mac(b"tebex secret", BODY)), BODY));
    }

    #[test]
    fn a_webhook_is_good_for_five_minutes() {
        let signature = Signature::StandardWebhooks { secret: "S".into() };
        let secret = format!("whsec_{}", BASE64.encode(b"key"));
        let good = |age: Millis, sent: &dyn Fn(&str) -> String| {
            let time = ((NOW - age) / 1_000).to_string();
            let message = [b"msg_1.", time.as_bytes(), b".", BODY].concat();
            let sent = sent(&BASE64.encode(mac(b"key", &message)));
            let all = headers(&[("webhook-id", "msg_1"), ("webhook-timestamp", &time), ("webhook-signature", &sent)]);
            is_good(&signature, &[&secret], &all, BODY, NOW)
        };
        let one = |mac: &str| format!("v1,{mac}");
        assert!(good(0, &one) && good(300_000, &one) && good(-300_000, &one));
        assert!(good(0, &|mac| format!("v1,AAAA v1,{mac}")));
        assert!(!good(301_000, &one) && !good(-301_000, &one));
        assert!(!good(0, &|mac| format!("v1a,{mac}")) && !good(0, &str::to_owned));
    }

    #[test]
    fn discord_signs_time_and_body() {
        let signature = Signature::Discord { secret: "S".into() };
        let pair = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
        let key = hex(pair.public_key().as_ref());
        let time = (NOW / 1_000).to_string();
        let sent = hex(pair.sign(&[time.as_bytes(), BODY].concat()).as_ref());
        let all = headers(&[("x-signature-timestamp", &time), ("x-signature-ed25519", &sent)]);
        assert!(is_good(&signature, &[&key], &all, BODY, NOW));
        assert!(!is_good(&signature, &[&key], &all, b"{}", NOW));
        assert!(!is_good(&signature, &[&key], &all, BODY, NOW + 400_000));
        assert!(!is_good(&signature, &["zz"], &all, BODY, NOW));
    }
}
