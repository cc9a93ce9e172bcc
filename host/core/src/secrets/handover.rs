//! Hands the sealing key to another node, so that only that node can read it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use ring::agreement::{EphemeralPrivateKey, UnparsedPublicKey, X25519, agree_ephemeral};
use ring::hkdf::{HKDF_SHA256, Salt};
use ring::rand::SystemRandom;

use crate::secrets::sealing_key::SealingKey;

const CONTEXT: &str = "secrets key for another node";
const LENGTH: usize = 32;

/// A node's request for the key. Its private half is in that node's memory only.
pub struct KeyRequest {
    private: EphemeralPrivateKey,
    public: String,
}

impl KeyRequest {
    pub fn new() -> anyhow::Result<Self> {
        let private = EphemeralPrivateKey::generate(&X25519, &SystemRandom::new());
        let private = private.map_err(|_| anyhow::anyhow!("the system's random numbers are not available"))?;
        let public = private.compute_public_key().map_err(|_| anyhow::anyhow!("unusable key"))?;
        Ok(Self { private, public: BASE64.encode(public) })
    }

    /// The public half, for the others.
    pub fn public(&self) -> &str {
        &self.public
    }

    /// The key of an answer; none if it was not made for this request.
    pub fn open(self, answer: &str) -> Option<SealingKey> {
        let answer = BASE64.decode(answer).ok()?;
        let (sender, sealed) = answer.split_first_chunk::<LENGTH>()?;
        let bytes = shared(self.private, sender, &self.public)?.unseal(CONTEXT, sealed)?;
        SealingKey::new(&bytes).ok()
    }
}

/// The key for the node that made the request; none if the request is malformed.
pub fn seal_for(key: &SealingKey, request: &str) -> Option<String> {
    let own = EphemeralPrivateKey::generate(&X25519, &SystemRandom::new()).ok()?;
    let sender = own.compute_public_key().ok()?;
    let shared = shared(own, &BASE64.decode(request).ok()?, request)?;
    let sealed = shared.seal(CONTEXT, &key.bytes()).ok()?;
    Some(BASE64.encode([sender.as_ref(), &sealed].concat()))
}

/// Key that only the two nodes know.
fn shared(own: EphemeralPrivateKey, other: &[u8], request: &str) -> Option<SealingKey> {
    agree_ephemeral(own, &UnparsedPublicKey::new(&X25519, other), |secret| {
        let mut bytes = [0; LENGTH];
        let derived = Salt::new(HKDF_SHA256, request.as_bytes()).extract(secret);
        derived.expand(&[CONTEXT.as_bytes()], HKDF_SHA256).ok()?.fill(&mut bytes).ok()?;
        SealingKey::new(&bytes).ok()
    })
    .ok()?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_node_that_asked_opens_the_answer() {
        let key = SealingKey::new(&[7; LENGTH]).unwrap().with_next().unwrap();
        let (asking, other) = (KeyRequest::new().unwrap(), KeyRequest::new().unwrap());
        let answer = seal_for(&key, asking.public()).unwrap();
        assert!(!answer.contains(&BASE64.encode([7; LENGTH])));
        assert!(other.open(&answer).is_none());
        assert_eq!(asking.open(&answer).unwrap().bytes(), key.bytes());
        assert!(seal_for(&key, "no key").is_none() && seal_for(&key, "").is_none());
        assert!(KeyRequest::new().unwrap().open("").is_none());
    }
}
