//! Ids and random numbers of calls: those of one event are the same at any node, and in all runs of an attempt.

use sha2::{Digest as _, Sha256};

use crate::values::NetworkId;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const LENGTH: usize = 16;

/// Id of a call without its attempt, and the random number of all attempts.
pub(super) fn call_of(network: NetworkId, module: &str, seq: i64) -> (String, u64) {
    let digest = Sha256::digest(format!("{network}\n{module}\n{seq}"));
    let id = digest.iter().take(LENGTH).map(|byte| char::from(ALPHABET[usize::from(byte & 63)])).collect();
    let seed = digest.get(24..32).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_be_bytes);
    (id, seed)
}

/// Id of an attempt's call.
pub(super) fn of_attempt(call: &str, attempt: i64) -> String {
    if attempt <= 1 { call.to_owned() } else { format!("{call}.{attempt}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_the_same_everywhere() {
        let network = NetworkId(uuid::Uuid::from_u128(7));
        let (id, seed) = call_of(network, "votes", 3);
        assert_eq!((id.len(), call_of(network, "votes", 3)), (16, (id.clone(), seed)));
        assert_ne!(call_of(network, "votes", 4).0, id);
        assert_eq!((of_attempt("a", 1), of_attempt("a", 3)), ("a".to_owned(), "a.3".to_owned()));
    }
}
