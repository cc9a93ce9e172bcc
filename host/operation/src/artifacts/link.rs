//! Token of a download link: `<claims>.<signature>`, both in URL-safe base64.
//!
//! The claims are the network (16 bytes), the link's expiry (8) and the artifact's id; the signature is their
//! HMAC-SHA256 with the hub's own secret. The network's secret is unsuitable: all of its servers know it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use uuid::Uuid;

use crate::clock::Millis;
use crate::secrets::SigningKey;
use crate::values::NetworkId;

/// Purpose of the secret; it signs nothing else.
pub(super) const PURPOSE: &str = "artifact-links";
/// Longer than any token of the hub.
const LONGEST: usize = 512;

/// Subject of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Claims {
    pub(super) network: NetworkId,
    pub(super) artifact_id: String,
    pub(super) expires_at: Millis,
}

/// Signs these claims.
pub(super) fn sign(key: &SigningKey, claims: &Claims) -> String {
    let mut bytes = claims.network.0.as_bytes().to_vec();
    bytes.extend(claims.expires_at.to_be_bytes());
    bytes.extend(claims.artifact_id.as_bytes());
    format!("{}.{}", BASE64.encode(&bytes), BASE64.encode(key.sign(&bytes)))
}

/// Reads the claims in a token signed by the hub, even after their expiry.
pub(super) fn read(key: &SigningKey, token: &str) -> Option<Claims> {
    let (claims, signature) = token.split_once('.').filter(|_| token.len() <= LONGEST)?;
    let (claims, signature) = (BASE64.decode(claims).ok()?, BASE64.decode(signature).ok()?);
    if !key.verify(&claims, &signature) {
        return None;
    }
    let (network, rest) = claims.split_first_chunk::<16>()?;
    let (expires_at, id) = rest.split_first_chunk::<8>()?;
    Some(Claims {
        network: NetworkId(Uuid::from_bytes(*network)),
        expires_at: Millis::from_be_bytes(*expires_at),
        artifact_id: String::from_utf8(id.to_vec()).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(secret: &str) -> SigningKey {
        SigningKey::new(PURPOSE, secret)
    }

    fn claims() -> Claims {
        Claims {
            network: NetworkId(Uuid::from_u128(7)),
            artifact_id: "Zk3vXq0aP1mB7s2T".to_owned(),
            expires_at: 1_804_680_600_000,
        }
    }

    #[test]
    fn a_token_says_what_was_signed() {
        assert_eq!(read(&key("secret"), &sign(&key("secret"), &claims())), Some(claims()));
        assert_eq!(read(&key("another"), &sign(&key("secret"), &claims())), None);
    }

    #[test]
    fn no_character_of_a_token_can_be_changed() {
        let token = sign(&key("secret"), &claims());
        for at in 0..token.len() {
            for other in [b'A', b'B', b'.', b'='] {
                let mut changed = token.clone().into_bytes();
                if changed[at] != other {
                    changed[at] = other;
                    assert_eq!(read(&key("secret"), &String::from_utf8(changed).unwrap()), None, "at {at}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn what_nobody_signed_is_no_token(token in "[A-Za-z0-9_.-]{0,200}") {
            prop_assert_eq!(read(&key("secret"), &token), None);
        }
    }
}
