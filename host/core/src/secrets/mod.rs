//! Secrets of the hub itself, one for each purpose, shared by all its nodes.
//!
//! Invariants: the database has them sealed by a key from a file beside it, so that its reader, or a backup's, can sign
//! nothing; a replaced secret verifies until the next replacement. The columns that tables declare as sealed, and secrets
//! in events and answers, are sealed by the same key; what its older generations sealed opens until it is sealed again.
//! Table: `hub_secrets`, which belongs to no network.

mod fields;
mod handover;
mod opening;
mod sealing_key;
mod store;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use hub_db::{Db, Error, Tx};
use parking_lot::RwLock;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;
use tokio::time::{Instant, sleep};

pub use handover::{KeyRequest, seal_for};
pub use opening::{KeyState, create_again, key_of_database, key_state, open_key, open_restored};
pub use sealing_key::SealingKey;
pub use store::networks;

use crate::app::App;
use crate::clock::Millis;
use crate::ids::Ids;
use crate::mac::hmac_sha256;
use crate::values::NetworkId;

/// Base 62: more than 256 bits.
const LENGTH: usize = 48;
/// Interval at which a node looks for replaced secrets.
const TTL: Duration = Duration::from_secs(1);
/// Time after which a new secret signs: by then all nodes know it.
const SIGNS_AFTER: Millis = 5_000;
/// Longest wait of a request for a newer key.
const KEY_PATIENCE: Duration = Duration::from_secs(3);
const KEY_POLL_INTERVAL: Duration = Duration::from_millis(100);
/// Row that tells a node with another key.
const CHECK: &str = "key-check";

/// Key of the database's secrets, and those loaded so far by purpose.
#[derive(Debug)]
pub struct HubSecrets {
    key: RwLock<Arc<SealingKey>>,
    file: PathBuf,
    /// State of the file when it was last read.
    seen: RwLock<Option<(SystemTime, u64)>>,
    loaded: RwLock<HashMap<&'static str, (Instant, SigningKey)>>,
}

impl HubSecrets {
    /// Secrets sealed by this key, whose file a rotation replaces.
    pub fn new(key: SealingKey, file: PathBuf) -> Self {
        Self { key: RwLock::new(Arc::new(key)), seen: RwLock::new(state_of(&file)), file, loaded: RwLock::default() }
    }

    /// The key, with the generations that its file has by now.
    pub fn key(&self) -> Arc<SealingKey> {
        let state = state_of(&self.file);
        let is_replaced = state != *self.seen.read();
        if is_replaced {
            *self.seen.write() = state;
            let own = Arc::clone(&self.key.read());
            match SealingKey::read(&self.file) {
                Ok(Some(key)) if key.includes(&own) => *self.key.write() = Arc::new(key),
                Ok(_) => tracing::warn!("{} is not this hub's secrets key any more", self.file.display()),
                Err(error) => tracing::warn!("{error:#}"),
            }
        }
        Arc::clone(&self.key.read())
    }

    /// Keeps a key with more generations, from another node: in memory also if its file cannot be written.
    pub fn keep(&self, key: SealingKey) -> anyhow::Result<()> {
        let saved = key.save(&self.file);
        *self.key.write() = Arc::new(key);
        *self.seen.write() = state_of(&self.file);
        saved
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

/// Reads the key's file whenever it is replaced, until the hub stops: a node that misses a generation could not tell the
/// next one from another hub's.
pub async fn watch_file(app: App) {
    loop {
        tokio::time::sleep(TTL / 2).await;
        app.state::<HubSecrets>().key();
    }
}

/// Time of change and size of the key's file.
fn state_of(file: &std::path::Path) -> Option<(SystemTime, u64)> {
    let metadata = file.metadata().ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
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
    let sealing = secrets.key();
    let stored = if let Some(stored) = store::find(&app.db, purpose).await? {
        stored
    } else {
        let fresh = [Generation { secret: app.ids.token(LENGTH), since: 0 }];
        store::get_or_insert(&app.db, purpose, &seal_all(&sealing, purpose, &fresh)?).await?
    };
    // Read again: the key may have been replaced meanwhile.
    let generations = unseal_all(&secrets.key(), purpose, &stored)?;
    let now = app.clock.now();
    let is_known = |it: &Generation| it.since.saturating_add(SIGNS_AFTER) <= now;
    let signing = generations.iter().find(|it| is_known(it)).or(generations.first());
    let signing = signing.ok_or_else(|| sqlx::Error::Decode("the secret is empty".into()))?.secret.clone();
    let key = SigningKey { purpose, signing, secrets: generations.into_iter().map(|it| it.secret).collect() };
    secrets.loaded.write().insert(purpose, (Instant::now(), key.clone()));
    Ok(key)
}

fn sealing(app: &App) -> Arc<SealingKey> {
    app.state::<HubSecrets>().key()
}

/// This node's sealing key, for the node that made a [`KeyRequest`] with this public half.
pub fn seal_key_for(app: &App, request: &str) -> Option<String> {
    seal_for(&sealing(app), request)
}

/// True if this node's key is the one that seals the database's secrets.
pub async fn is_key_current(app: &App) -> Result<bool, Error> {
    let stored = store::find_settled(&app.db, CHECK).await?;
    Ok(stored.is_some_and(|stored| unseal_all(&sealing(app), CHECK, &stored).is_ok()))
}

/// Tells all nodes of a key in the place of the one before: a node that lacks its newest generation looks for it. False if
/// another key is there by now. No other one comes until the transaction ends.
pub async fn set_key(tx: &mut Tx, before: &SealingKey, key: &SealingKey) -> Result<bool, Error> {
    // None: no hub has started yet, and nothing is sealed.
    let Some(stored) = store::lock(tx, CHECK).await? else { return Ok(true) };
    if unseal_all(before, CHECK, &stored).is_err() {
        return Ok(false);
    }
    store::replace(tx, CHECK, &seal_all(key, CHECK, &[])?).await?;
    Ok(true)
}

/// Keeps a key with newer generations, if it is the database's; false if it is not.
pub async fn keep_newer(app: &App, key: SealingKey) -> anyhow::Result<bool> {
    let own = sealing(app);
    if !key.includes(&own) || !check(&app.db, &key).await? {
        return Ok(false);
    }
    if let Err(error) = app.state::<HubSecrets>().keep(key) {
        tracing::warn!("{error:#}; this node has the newest secrets key until it stops: put the key into that file");
    }
    Ok(true)
}

/// Sealed form of another secret in the database; `context` says where it is.
pub fn seal(app: &App, context: &str, secret: &[u8]) -> Result<Vec<u8>, Error> {
    sealing(app).seal(context, secret)
}

/// The secret; none if it was sealed by a lost key.
pub fn unseal(app: &App, context: &str, sealed: &[u8]) -> Option<Vec<u8>> {
    sealing(app).unseal(context, sealed)
}

/// Sealed form of a text in a table's column of secrets, wherever in that table it is.
pub fn seal_text(app: &App, table: &str, text: &str) -> Result<String, Error> {
    sealing(app).seal_text(&context_of_table(table), text)
}

/// A text from such a column; none if a lost key sealed it.
pub fn unseal_text(app: &App, table: &str, stored: &str) -> Option<String> {
    sealing(app).unseal_text(&context_of_table(table), stored)
}

/// Fingerprints of a text by which a table's row is found, newest generation first.
pub fn macs(app: &App, table: &str, text: &str) -> Vec<Vec<u8>> {
    sealing(app).macs(&context_of_table(table), text)
}

/// True if two secrets are the same. Takes the same time wherever they differ.
pub fn is_same(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

/// An event's or answer's JSON for the database: with its secrets sealed.
pub fn seal_fields(app: &App, network: NetworkId, text: String) -> Result<String, Error> {
    if fields::has_fields(&text) { sealing(app).seal_fields(network, &text) } else { Ok(text) }
}

/// Such a text as it was.
pub fn open_fields(app: &App, network: NetworkId, text: String) -> String {
    if fields::has_fields(&text) { sealing(app).open_fields(network, &text) } else { text }
}

/// Such a text as it was, once this node has the key that sealed it: another node may have a newer one, which this one gets
/// within seconds. Null in the place of what a lost key sealed.
pub async fn open_fields_with_newest(app: &App, network: NetworkId, text: String) -> Result<String, Error> {
    let began = Instant::now();
    while !opens_fields(app, network, &text) && !is_key_current(app).await? {
        if began.elapsed() >= KEY_PATIENCE {
            tracing::warn!(%network, "this node lacks the newest secrets key; the request is to be sent again");
            return Err(Error::Busy);
        }
        sleep(KEY_POLL_INTERVAL).await;
    }
    Ok(open_fields(app, network, text))
}

/// True if this node's key opens all secrets of such a text.
pub fn opens_fields(app: &App, network: NetworkId, text: &str) -> bool {
    !fields::has_fields(text) || sealing(app).opens_fields(network, text)
}

/// True if a JSON text has secret fields.
pub fn has_fields(text: &str) -> bool {
    fields::has_fields(text)
}

/// True if a text from the database is sealed as a whole.
pub fn is_sealed(stored: &str) -> bool {
    stored.starts_with(sealing_key::SEALED)
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
