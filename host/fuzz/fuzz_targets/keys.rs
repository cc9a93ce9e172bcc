//! Fuzzed API key headers: the key itself is accepted, and nothing else.
//!
//! The first byte chooses the kind of the rest: the whole header, the parts of a key with a true checksum, or changes
//! of the network's key.
#![no_main]

use axum::body::Body;
use axum::http::{HeaderValue, Request};
use hub_fuzz::Hub;
use libfuzzer_sys::fuzz_target;

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

fuzz_target!(|data: &[u8]| {
    let [choice, rest @ ..] = data else { return };
    Hub::run(async |hub| {
        let key = hub.network().await.key;
        assert_eq!(status(hub, key.as_bytes()).await, Some(200), "the key is good");
        let text = match choice % 4 {
            0 => rest.to_vec(),
            1 => with_checksum(rest),
            2 => with_checksum(&changed(&key.as_bytes()[..key.len() - 6], rest)),
            _ => changed(key.as_bytes(), rest),
        };
        let expected = if text.trim_ascii() == key.as_bytes() { 200 } else { 401 };
        if let Some(status) = status(hub, &text).await {
            assert_eq!(status, expected, "{}", String::from_utf8_lossy(&text));
        }
    });
});

/// `None` if the text is no value of a header.
async fn status(hub: &Hub, key: &[u8]) -> Option<u16> {
    let request = Request::get("/api/manage/keys").header("x-service-api-key", HeaderValue::from_bytes(key).ok()?);
    let request = request.body(Body::empty()).expect("a request");
    hub.send(request, None).await.map(|answer| answer.status.as_u16())
}

/// Each two bytes replace one byte of the text.
fn changed(text: &[u8], changes: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    for change in changes.chunks_exact(2).take(8) {
        let at = usize::from(change[0]) % text.len();
        text[at] = change[1];
    }
    text
}

/// Appends the CRC-32 of a key, in six digits of base 62.
fn with_checksum(body: &[u8]) -> Vec<u8> {
    let mut rest = crc32fast::hash(body) as usize;
    let mut digits = [b'0'; 6];
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS[rest % DIGITS.len()];
        rest /= DIGITS.len();
    }
    [body, &digits].concat()
}
