//! Links to snapshots that go through the hub itself: whoever has one may do the one thing it is for, until it expires.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq as _;
use uuid::Uuid;

use crate::clock::Millis;
use crate::mac::hmac_sha256;
use crate::values::NetworkId;

/// Keeps these signatures apart from all others under the same secret.
const PURPOSE: &str = "world-blob\n";

/// What a link is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display, strum::EnumString)]
#[strum(serialize_all = "UPPERCASE")]
pub(super) enum Access {
    Put,
    Get,
}

/// What a link says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SnapshotLink {
    pub(super) access: Access,
    pub(super) network: NetworkId,
    pub(super) blob_key: String,
    pub(super) expires_at: Millis,
}

impl SnapshotLink {
    /// The link's last part, signed with its network's secret.
    pub(super) fn token(&self, secret: &str) -> String {
        let claims = format!("{}\n{}\n{}\n{}", self.access, self.network.0.simple(), self.expires_at, self.blob_key);
        let mac = mac(secret, &claims);
        format!("{}.{}", URL_SAFE_NO_PAD.encode(claims), URL_SAFE_NO_PAD.encode(mac))
    }
}

/// A link that a caller sent.
#[derive(Debug)]
pub(super) struct UnverifiedLink {
    link: SnapshotLink,
    claims: String,
    mac: Vec<u8>,
}

impl UnverifiedLink {
    /// Reads what a link says; none where it is malformed.
    pub(super) fn read(token: &str) -> Option<Self> {
        let (claims, mac) = token.split_once('.')?;
        let claims = String::from_utf8(URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?;
        let mac = URL_SAFE_NO_PAD.decode(mac).ok()?;
        let mut parts = claims.splitn(4, '\n');
        let access = parts.next()?.parse().ok()?;
        let network = NetworkId(Uuid::try_parse(parts.next()?).ok()?);
        let expires_at = parts.next()?.parse().ok()?;
        let blob_key = parts.next()?.to_owned();
        Some(Self { link: SnapshotLink { access, network, blob_key, expires_at }, claims, mac })
    }

    /// The network whose secret it must be signed with.
    pub(super) fn network(&self) -> NetworkId {
        self.link.network
    }

    /// What it says, if it is genuine.
    pub(super) fn verify(self, secret: &str) -> Option<SnapshotLink> {
        bool::from(mac(secret, &self.claims).ct_eq(&self.mac[..])).then_some(self.link)
    }
}

fn mac(secret: &str, claims: &str) -> [u8; 32] {
    hmac_sha256(secret.as_bytes(), format!("{PURPOSE}{claims}").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_signed_is_genuine() {
        let network = NetworkId(Uuid::from_u128(7));
        let link = SnapshotLink { access: Access::Put, network, blob_key: "a/1/2-3".to_owned(), expires_at: 5 };
        let token = link.token("secret");
        assert_eq!(UnverifiedLink::read(&token).unwrap().verify("secret"), Some(link.clone()));
        assert_eq!(UnverifiedLink::read(&token).unwrap().verify("another"), None);
        let forged = SnapshotLink { expires_at: 6, ..link }.token("another");
        let (claims, _) = forged.split_once('.').unwrap();
        let (_, mac) = token.split_once('.').unwrap();
        assert_eq!(UnverifiedLink::read(&format!("{claims}.{mac}")).unwrap().verify("secret"), None);
        for malformed in ["", ".", "a.b", &token[..10], &format!("{token}!")] {
            assert!(UnverifiedLink::read(malformed).is_none(), "{malformed}");
        }
    }
}
