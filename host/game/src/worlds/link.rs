//! Links to snapshots that the hub itself stores: a link allows its holder one action, until it expires.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use uuid::Uuid;

use crate::clock::Millis;
use crate::secrets::SigningKey;
use crate::values::NetworkId;

/// Purpose of the hub's secret; it signs nothing else. The network's secret is unsuitable: every one of its servers has
/// it.
pub(super) const PURPOSE: &str = "world-links";
/// Longer than any token of the hub.
const MAX_TOKEN_BYTES: usize = 1024;

/// Purpose of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display, strum::EnumString)]
#[strum(serialize_all = "UPPERCASE")]
pub(super) enum Access {
    Put,
    Get,
}

/// Claims of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SnapshotLink {
    pub(super) access: Access,
    pub(super) network: NetworkId,
    pub(super) blob_key: String,
    pub(super) expires_at: Millis,
}

/// Last part of the link, `<claims>.<signature>`, both in URL-safe base64.
pub(super) fn sign(key: &SigningKey, link: &SnapshotLink) -> String {
    let SnapshotLink { access, network, blob_key, expires_at } = link;
    let claims = format!("{access}\n{}\n{expires_at}\n{blob_key}", network.0.simple());
    format!("{}.{}", BASE64.encode(&claims), BASE64.encode(key.sign(claims.as_bytes())))
}

/// Claims of a link that the hub signed, even an expired one.
pub(super) fn read(key: &SigningKey, token: &str) -> Option<SnapshotLink> {
    let (claims, signature) = token.split_once('.').filter(|_| token.len() <= MAX_TOKEN_BYTES)?;
    let (claims, signature) = (BASE64.decode(claims).ok()?, BASE64.decode(signature).ok()?);
    if !key.verify(&claims, &signature) {
        return None;
    }
    let claims = String::from_utf8(claims).ok()?;
    let mut parts = claims.splitn(4, '\n');
    let access = parts.next()?.parse().ok()?;
    let network = NetworkId(Uuid::try_parse(parts.next()?).ok()?);
    let expires_at = parts.next()?.parse().ok()?;
    let blob_key = parts.next()?.to_owned();
    Some(SnapshotLink { access, network, blob_key, expires_at })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(secret: &str) -> SigningKey {
        SigningKey::new(PURPOSE, secret)
    }

    #[test]
    fn only_signed_links_are_accepted() {
        let network = NetworkId(Uuid::from_u128(7));
        let link = SnapshotLink { access: Access::Put, network, blob_key: "a/1/2-3".to_owned(), expires_at: 5 };
        let token = sign(&key("secret"), &link);
        assert_eq!(read(&key("secret"), &token), Some(link.clone()));
        assert_eq!(read(&key("another"), &token), None);
        assert_eq!(read(&SigningKey::new("artifact-links", "secret"), &token), None);
        let forged = sign(&key("another"), &SnapshotLink { expires_at: 6, ..link });
        let (claims, _) = forged.split_once('.').unwrap();
        let (_, mac) = token.split_once('.').unwrap();
        assert_eq!(read(&key("secret"), &format!("{claims}.{mac}")), None);
        for malformed in ["", ".", "a.b", &token[..10], &format!("{token}!"), &"a".repeat(MAX_TOKEN_BYTES + 1)] {
            assert!(read(&key("secret"), malformed).is_none(), "{malformed}");
        }
    }
}
