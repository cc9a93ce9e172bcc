//! Links to snapshots on the hub's own disk: who has one may do the one thing it is for, until it expires.

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    Put,
    Get,
}

impl Deed {
    fn as_str(self) -> &'static str {
        match self {
            Self::Put => "PUT",
            Self::Get => "GET",
        }
    }
}

/// What a link says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) deed: Deed,
    pub(super) network: NetworkId,
    pub(super) blob_key: String,
    pub(super) expires_at: Millis,
}

impl Link {
    /// The link's last part, signed with its network's secret.
    pub(super) fn token(&self, secret: &str) -> String {
        let said =
            format!("{}\n{}\n{}\n{}", self.deed.as_str(), self.network.0.simple(), self.expires_at, self.blob_key);
        let mac = mac(secret, &said);
        format!("{}.{}", URL_SAFE_NO_PAD.encode(said), URL_SAFE_NO_PAD.encode(mac))
    }
}

/// A link that was shown and is not yet known to be genuine.
#[derive(Debug)]
pub(super) struct Shown {
    link: Link,
    said: String,
    mac: Vec<u8>,
}

impl Shown {
    /// Reads what a link says; none where it is malformed.
    pub(super) fn read(token: &str) -> Option<Self> {
        let (said, mac) = token.split_once('.')?;
        let said = String::from_utf8(URL_SAFE_NO_PAD.decode(said).ok()?).ok()?;
        let mac = URL_SAFE_NO_PAD.decode(mac).ok()?;
        let mut parts = said.splitn(4, '\n');
        let deed = match parts.next()? {
            "PUT" => Deed::Put,
            "GET" => Deed::Get,
            _ => return None,
        };
        let network = NetworkId(Uuid::try_parse(parts.next()?).ok()?);
        let expires_at = parts.next()?.parse().ok()?;
        let blob_key = parts.next()?.to_owned();
        Some(Self { link: Link { deed, network, blob_key, expires_at }, said, mac })
    }

    /// The network whose secret it must be signed with.
    pub(super) fn network(&self) -> NetworkId {
        self.link.network
    }

    /// What it says, if it is genuine.
    pub(super) fn verify(self, secret: &str) -> Option<Link> {
        bool::from(mac(secret, &self.said).ct_eq(&self.mac[..])).then_some(self.link)
    }
}

fn mac(secret: &str, said: &str) -> [u8; 32] {
    hmac_sha256(secret.as_bytes(), format!("{PURPOSE}{said}").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_signed_is_genuine() {
        let network = NetworkId(Uuid::from_u128(7));
        let link = Link { deed: Deed::Put, network, blob_key: "a/1/2-3".to_owned(), expires_at: 5 };
        let token = link.token("secret");
        assert_eq!(Shown::read(&token).unwrap().verify("secret"), Some(link.clone()));
        assert_eq!(Shown::read(&token).unwrap().verify("another"), None);
        let forged = Link { expires_at: 6, ..link }.token("another");
        let (said, _) = forged.split_once('.').unwrap();
        let (_, mac) = token.split_once('.').unwrap();
        assert_eq!(Shown::read(&format!("{said}.{mac}")).unwrap().verify("secret"), None);
        for malformed in ["", ".", "a.b", &token[..10], &format!("{token}!")] {
            assert!(Shown::read(malformed).is_none(), "{malformed}");
        }
    }
}
