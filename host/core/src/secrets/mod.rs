//! Secrets of the hub itself, one for each purpose, shared by all its nodes.
//!
//! Table: `hub_secrets`, which belongs to no network.

mod store;

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;
use subtle::ConstantTimeEq as _;

use crate::app::App;
use crate::mac::hmac_sha256;

/// Base 62: more than 256 bits.
const LENGTH: usize = 48;

/// Loaded secrets, by purpose.
#[derive(Debug, Default)]
pub struct HubSecrets(RwLock<HashMap<&'static str, SigningKey>>);

/// Signing key for a single purpose.
#[derive(Clone)]
pub struct SigningKey {
    purpose: &'static str,
    secret: Arc<str>,
}

/// Key for a purpose. The first node that needs it creates it.
pub async fn signing_key(app: &App, purpose: &'static str) -> Result<SigningKey, hub_db::Error> {
    let known = app.state::<HubSecrets>().0.read().get(purpose).cloned();
    if let Some(key) = known {
        return Ok(key);
    }
    let secret = store::get_or_insert(&app.db, purpose, &app.ids.token(LENGTH)).await?;
    let key = SigningKey::new(purpose, &secret);
    app.state::<HubSecrets>().0.write().insert(purpose, key.clone());
    Ok(key)
}

impl SigningKey {
    pub fn new(purpose: &'static str, secret: &str) -> Self {
        Self { purpose, secret: secret.into() }
    }

    /// Signature of a message: HMAC-SHA256 over the purpose and the message.
    pub fn sign(&self, message: &[u8]) -> [u8; 32] {
        hmac_sha256(self.secret.as_bytes(), &[self.purpose.as_bytes(), b"\0", message].concat())
    }

    /// True if this key signed the message. Takes the same time wherever two signatures differ.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        self.sign(message).as_slice().ct_eq(signature).into()
    }
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKey").field("purpose", &self.purpose).finish_non_exhaustive()
    }
}
