//! Text form of a key: `hub_<key id>_<secret><checksum>`.
//!
//! The prefix lets secret scanners recognise it; the checksum detects typos without a database query.

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::auth::model::KeyId;
use crate::ids::{BASE62, Ids};
use crate::secret_text::SecretText;
use crate::values::NetworkId;

const PREFIX: &str = "hub_";
/// Routing id of the network, and ten random characters.
const ID_LENGTH: usize = 12;
/// 32 characters of base 62 are 190 bits.
const SECRET_LENGTH: usize = 32;
const CHECKSUM_LENGTH: usize = 6;

/// SHA-256 of a whole key; nothing else of it is stored.
pub type KeyHash = Vec<u8>;

/// Generates a key id. It begins with the network's routing id, so that a load balancer can send all requests of a
/// send all requests of a network to the same one.
pub fn generate_id(ids: &Ids, network: NetworkId) -> KeyId {
    let routing_id = format!("{:02x}", network.shard());
    KeyId(format!("{routing_id}{}", ids.token(ID_LENGTH - routing_id.len())))
}

/// Generates a key under `id`: the text, shown once, and the hash to store.
pub fn mint(ids: &Ids, id: &KeyId) -> (SecretText, KeyHash) {
    let body = format!("{PREFIX}{}_{}", id.0, ids.token(SECRET_LENGTH));
    let text = format!("{body}{}", checksum(&body));
    let hash = hash(&text);
    (text.into(), hash)
}

/// Id inside a well-formed key.
pub(super) fn parse(text: &str) -> Option<KeyId> {
    let at = text.len().checked_sub(CHECKSUM_LENGTH)?;
    let (body, sum) = text.split_at_checked(at)?;
    let (id, secret) = body.strip_prefix(PREFIX)?.split_once('_')?;
    let base62 = |part: &str, length| part.len() == length && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !base62(id, ID_LENGTH) || !base62(secret, SECRET_LENGTH) || checksum(body) != sum {
        return None;
    }
    Some(KeyId(id.to_owned()))
}

/// Hash to store for `text`.
pub(super) fn hash(text: &str) -> KeyHash {
    Sha256::digest(text.as_bytes()).to_vec()
}

/// Compares two hashes in constant time.
pub(super) fn hashes_equal(one: &[u8], other: &[u8]) -> bool {
    one.ct_eq(other).into()
}

/// CRC-32 as six digits of base 62.
fn checksum(body: &str) -> String {
    let mut rest = crc32fast::hash(body.as_bytes()) as usize;
    let mut digits = [b'0'; CHECKSUM_LENGTH];
    for digit in digits.iter_mut().rev() {
        *digit = BASE62[rest % BASE62.len()];
        rest /= BASE62.len();
    }
    digits.iter().map(|digit| char::from(*digit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_holds_its_id_and_any_typo_is_found() {
        let ids = Ids::seeded(1);
        let network = NetworkId(uuid::Uuid::from_u128(0x1ab));
        let id = generate_id(&ids, network);
        assert!(id.0.starts_with("ab"), "the shard, in two digits");
        let (text, stored) = mint(&ids, &id);
        assert_eq!(parse(&text), Some(id));
        assert!(hashes_equal(&hash(&text), &stored));
        for at in 0..text.len() {
            let mut typo = text.as_bytes().to_vec();
            typo[at] = if typo[at] == b'x' { b'y' } else { b'x' };
            assert_eq!(parse(&String::from_utf8(typo).unwrap()), None, "typo at {at}");
        }
    }

    #[test]
    fn other_texts_are_no_keys() {
        for text in ["", "hub_", "hub__", "é", "hub_abc_déf", "hub_123456789012_éééééééééééééééééééé"]
        {
            assert_eq!(parse(text), None);
        }
    }
}
