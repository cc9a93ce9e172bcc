//! A person whom the provider has identified, and who still needs a code of the hub's second factor:
//! `<contents>.<signature>` in a cookie, both in URL-safe base64, signed by the hub, so that it is stored nowhere else.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use serde::{Deserialize, Serialize};

use crate::clock::Millis;
use crate::people::openid::Identity;
use crate::secrets::SigningKey;

/// Time limit for a code.
pub(in crate::people) const PENDING_TTL: Millis = 5 * 60 * 1000;
/// Longer than any cookie of the hub.
const MAX_COOKIE_BYTES: usize = 4096;

/// A sign-in waiting for its code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::people) struct Pending {
    pub(in crate::people) identity: Identity,
    pub(in crate::people) invitation: Option<String>,
    pub(in crate::people) expires_at: Millis,
}

impl Pending {
    /// Purpose of the secret; it signs nothing else.
    pub(in crate::people) const PURPOSE: &str = "openid-second-factor";

    /// Value of the cookie.
    pub(in crate::people) fn sign(&self, key: &SigningKey) -> Result<String, serde_json::Error> {
        let bytes = serde_json::to_vec(self)?;
        Ok(format!("{}.{}", BASE64.encode(&bytes), BASE64.encode(key.sign(&bytes))))
    }

    /// Reads a cookie that the hub signed, unless it has expired.
    pub(in crate::people) fn read(key: &SigningKey, cookie: &str, now: Millis) -> Option<Self> {
        let (bytes, signature) = cookie.split_once('.').filter(|_| cookie.len() <= MAX_COOKIE_BYTES)?;
        let (bytes, signature) = (BASE64.decode(bytes).ok()?, BASE64.decode(signature).ok()?);
        let pending: Self = key.verify(&bytes, &signature).then(|| serde_json::from_slice(&bytes).ok())??;
        (now < pending.expires_at).then_some(pending)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_fresh_signed_cookies_are_accepted() {
        let key = |secret| SigningKey::new(Pending::PURPOSE, secret);
        let identity =
            Identity { subject: "7".to_owned(), email: "alex@example.org".to_owned(), name: "Alex".to_owned() };
        let pending = Pending { identity, invitation: Some("token".to_owned()), expires_at: 10 };
        let cookie = pending.sign(&key("secret")).unwrap();
        assert_eq!(Pending::read(&key("secret"), &cookie, 9), Some(pending));
        assert_eq!(Pending::read(&key("secret"), &cookie, 10), None);
        assert_eq!(Pending::read(&key("another"), &cookie, 9), None);
        let (contents, signature) = cookie.split_once('.').unwrap();
        let other =
            BASE64.encode(String::from_utf8(BASE64.decode(contents).unwrap()).unwrap().replace("\"7\"", "\"8\""));
        assert_eq!(Pending::read(&key("secret"), &format!("{other}.{signature}"), 9), None);
    }
}
