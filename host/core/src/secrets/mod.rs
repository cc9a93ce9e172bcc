//! Secrets of the hub itself, one for each purpose, shared by all its nodes.
//!
//! Invariants: the database has them sealed by a key from a file beside it, so that its reader, or a backup's, can sign
//! nothing; a replaced secret verifies until the next replacement. Networks' own secrets are sealed by the same key.
//! Table: `hub_secrets`, which belongs to no network.

mod handover;
mod opening;
mod sealing_key;
mod store;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use hub_db::{Db, Error, Tx};
use parking_lot::RwLock;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;
use tokio::time::Instant;

pub use handover::KeyRequest;
pub use opening::{KeyState, create_again, key_state, open_key, open_restored};
pub use sealing_key::SealingKey;

use crate::app::App;
use crate::clock::Millis;
use crate::ids::Ids;
use crate::mac::hmac_sha256;

/// Base 62: more than 256 bits.
const LENGTH: usize = 48;
/// Interval at which a node looks for replaced secrets.
const TTL: Duration = Duration::from_secs(1);
/// Time after which a new secret signs: by then all nodes know it.
const SIGNS_AFTER: Millis = 5_000;
/// Row that tells a node with another key.
const CHECK: &str = "key-check";

/// Key of the database's secrets, and those loaded so far by purpose.
#[derive(Debug)]
pub struct HubSecrets {
    key: SealingKey,
    loaded: RwLock<HashMap<&'static str, (Instant, SigningKey)>>,
}

impl HubSecrets {
    /// Secrets sealed by this key.
    pub fn new(key: SealingKey) -> Self {
        Self { key, loaded: RwLock::default() }
    }

    /// Loaded key for a purpose; false if the caller is to load it again. Others use it meanwhile.
    fn fresh(&self, purpose: &str) -> Option<(bool, SigningKey)> {
        if let Some((at, key)) = self.loaded.read().get(purpose)
            && at.elapsed() < TTL
        {
            return Some((true, key.clone()));
        }
        let mut loaded = self.loaded.write();
        let (at, key) = loaded.get_mut(purpose)?;
        let is_fresh = at.elapsed() < TTL;
        *at = Instant::now();
        Some((is_fresh, key.clone()))
    }
}

/// A secret and the time of its creation.
#[derive(Clone, Serialize, Deserialize)]
struct Generation {
    secret: String,
    since: Millis,
}

/// Signing key for a single purpose.
#[derive(Clone)]
pub struct SigningKey {
    purpose: &'static str,
    /// Newest first; all of them verify.
    secrets: Arc<[String]>,
    signing: String,
}

/// Key for a purpose. The first node that needs it creates it.
pub async fn signing_key(app: &App, purpose: &'static str) -> Result<SigningKey, Error> {
    let known = app.state::<HubSecrets>().fresh(purpose);
    match known {
        Some((true, key)) => Ok(key),
        None => load(app, purpose).await,
        // Without the database no other node replaces it either.
        Some((false, key)) => Ok(load(app, purpose).await.unwrap_or(key)),
    }
}

async fn load(app: &App, purpose: &'static str) -> Result<SigningKey, Error> {
    let secrets = app.state::<HubSecrets>();
    let stored = if let Some(stored) = store::find(&app.db, purpose).await? {
        stored
    } else {
        let fresh = [Generation { secret: app.ids.token(LENGTH), since: 0 }];
        store::get_or_insert(&app.db, purpose, &seal_all(&secrets.key, purpose, &fresh)?).await?
    };
    let generations = unseal_all(&secrets.key, purpose, &stored)?;
    let now = app.clock.now();
    let is_known = |it: &Generation| it.since.saturating_add(SIGNS_AFTER) <= now;
    let signing = generations.iter().find(|it| is_known(it)).or(generations.first());
    let signing = signing.ok_or_else(|| sqlx::Error::Decode("the secret is empty".into()))?.secret.clone();
    let key = SigningKey { purpose, signing, secrets: generations.into_iter().map(|it| it.secret).collect() };
    secrets.loaded.write().insert(purpose, (Instant::now(), key.clone()));
    Ok(key)
}

/// This node's sealing key, for the node that made a [`KeyRequest`] with this public half.
pub fn seal_key_for(app: &App, request: &str) -> Option<String> {
    handover::seal_for(&app.state::<HubSecrets>().key, request)
}

/// Sealed form of another secret in the database; `context` says where it is.
pub fn seal(app: &App, context: &str, secret: &[u8]) -> Result<Vec<u8>, Error> {
    app.state::<HubSecrets>().key.seal(context, secret)
}

/// The secret; none if it was sealed by a lost key.
pub fn unseal(app: &App, context: &str, sealed: &[u8]) -> Option<Vec<u8>> {
    app.state::<HubSecrets>().key.unseal(context, sealed)
}

/// Sealed form of a text in a table's column of secrets, wherever in that table it is.
pub fn seal_text(app: &App, table: &str, text: &str) -> Result<String, Error> {
    app.state::<HubSecrets>().key.seal_text(&context_of_table(table), text)
}

/// A text from such a column; none if a lost key sealed it.
pub fn unseal_text(app: &App, table: &str, stored: &str) -> Option<String> {
    app.state::<HubSecrets>().key.unseal_text(&context_of_table(table), stored)
}

/// Context of the texts that a table has sealed.
pub fn context_of_table(table: &str) -> String {
    format!("secret of {table}")
}

/// Replaces all secrets. The replaced ones verify until the next replacement, or not at all if it is `immediate`.
/// Returns the purposes.
pub async fn rotate(
    tx: &mut Tx,
    key: &SealingKey,
    ids: &Ids,
    now: Millis,
    immediate: bool,
) -> Result<Vec<String>, Error> {
    let mut purposes = vec![];
    for (purpose, stored) in store::all(&mut *tx).await? {
        if purpose == CHECK {
            continue;
        }
        let mut generations = unseal_all(key, &purpose, &stored)?;
        generations.truncate(usize::from(!immediate));
        generations.insert(0, Generation { secret: ids.token(LENGTH), since: if immediate { 0 } else { now } });
        store::replace(tx, &purpose, &seal_all(key, &purpose, &generations)?).await?;
        purposes.push(purpose);
    }
    Ok(purposes)
}

fn seal_all(key: &SealingKey, purpose: &str, generations: &[Generation]) -> Result<String, Error> {
    let text = serde_json::to_vec(generations).map_err(|error| sqlx::Error::Encode(error.into()))?;
    Ok(BASE64.encode(key.seal(&context(purpose), &text)?))
}

fn unseal_all(key: &SealingKey, purpose: &str, stored: &str) -> Result<Vec<Generation>, Error> {
    let text = BASE64.decode(stored).ok().and_then(|sealed| key.unseal(&context(purpose), &sealed));
    let text = text.ok_or_else(|| sqlx::Error::Decode("this node's secrets key does not open the secret".into()))?;
    Ok(serde_json::from_slice(&text).map_err(|error| sqlx::Error::Decode(error.into()))?)
}

fn context(purpose: &str) -> String {
    format!("hub_secrets {purpose}")
}

/// Adds the row by which other nodes compare their keys; false if another key's is there.
async fn check(db: &Db, key: &SealingKey) -> Result<bool, Error> {
    let stored = store::get_or_insert(db, CHECK, &seal_all(key, CHECK, &[])?).await?;
    Ok(unseal_all(key, CHECK, &stored).is_ok())
}

impl SigningKey {
    /// Key with one secret.
    pub fn new(purpose: &'static str, secret: &str) -> Self {
        Self { purpose, signing: secret.to_owned(), secrets: [secret.to_owned()].into() }
    }

    /// Signature of a message: HMAC-SHA256 over the purpose and the message.
    pub fn sign(&self, message: &[u8]) -> [u8; 32] {
        self.sign_with(&self.signing, message)
    }

    /// Signatures of a message by all secrets, newest first.
    pub fn sign_with_all(&self, message: &[u8]) -> Vec<[u8; 32]> {
        self.secrets.iter().map(|secret| self.sign_with(secret, message)).collect()
    }

    fn sign_with(&self, secret: &str, message: &[u8]) -> [u8; 32] {
        hmac_sha256(secret.as_bytes(), &[self.purpose.as_bytes(), b"\0", message].concat())
    }

    /// True if one of the secrets signed the message. Takes the same time wherever two signatures differ.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        self.secrets.iter().any(|secret| self.sign_with(secret, message).as_slice().ct_eq(signature).into())
    }
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKey").field("purpose", &self.purpose).finish_non_exhaustive()
    }
}
