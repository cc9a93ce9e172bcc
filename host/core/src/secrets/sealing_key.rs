//! The key that seals secrets in the database: a file beside the database, never part of a backup.
//!
//! The file has a line for each generation, newest first: the newest seals, and all of them open.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::mac::hmac_sha256;

/// Bytes of a generation.
pub(super) const LENGTH: usize = 32;
/// Generations that are kept: what the one before sealed opens until the next rotation.
const KEPT_GENERATIONS: usize = 2;
/// Beginning of sealed texts.
pub(super) const SEALED: &str = "sealed:";
const RANDOM: &str = "the system's random numbers are not available";

/// Seals secrets, each for one context.
pub struct SealingKey {
    /// Newest first, and never empty.
    generations: Vec<Generation>,
}

#[derive(Clone)]
struct Generation {
    bytes: [u8; LENGTH],
    key: LessSafeKey,
}

impl Generation {
    fn new(bytes: [u8; LENGTH]) -> anyhow::Result<Self> {
        let key = UnboundKey::new(&CHACHA20_POLY1305, &bytes).map_err(|_| anyhow::anyhow!("unusable key"))?;
        Ok(Self { bytes, key: LessSafeKey::new(key) })
    }

    fn random() -> anyhow::Result<Self> {
        let mut bytes = [0; LENGTH];
        SystemRandom::new().fill(&mut bytes).map_err(|_| anyhow::anyhow!(RANDOM))?;
        Self::new(bytes)
    }

    fn unseal(&self, context: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE_LEN>()?;
        let mut secret = sealed.to_vec();
        let aad = Aad::from(context.as_bytes());
        let length = self.key.open_in_place(Nonce::assume_unique_for_key(*nonce), aad, &mut secret).ok()?.len();
        secret.truncate(length);
        Some(secret)
    }

    fn mac(&self, context: &str, text: &str) -> Vec<u8> {
        let own = hmac_sha256(&self.bytes, b"key of macs");
        hmac_sha256(&own, &[context.as_bytes(), b"\0", text.as_bytes()].concat()).to_vec()
    }
}

impl SealingKey {
    /// Key of these generations, one after the other, newest first.
    pub(super) fn new(bytes: &[u8]) -> anyhow::Result<Self> {
        let (generations, rest) = bytes.as_chunks::<LENGTH>();
        anyhow::ensure!(!generations.is_empty() && rest.is_empty(), "unusable key");
        Ok(Self { generations: generations.iter().map(|bytes| Generation::new(*bytes)).collect::<Result<_, _>>()? })
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        self.generations.iter().flat_map(|generation| generation.bytes).collect()
    }

    /// Reads the key's file; none if it does not exist.
    pub fn read(path: &Path) -> anyhow::Result<Option<Self>> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        let generation = |line| BASE64.decode(line).ok().filter(|bytes| bytes.len() == LENGTH);
        let bytes: Option<Vec<_>> = text.split_whitespace().map(generation).collect();
        let bytes = bytes.filter(|bytes| !bytes.is_empty());
        let bytes = bytes.with_context(|| format!("{} is not a hub's secrets key", path.display()))?;
        Self::new(&bytes.concat()).map(Some)
    }

    /// Creates the key's file, readable only by the hub's user. Another process may create it first: its key is used.
    pub fn create(path: &Path) -> anyhow::Result<Self> {
        let key = Self { generations: vec![Generation::random()?] };
        let linked = key.write(path, |partial, path| fs::hard_link(partial, path))?;
        match linked {
            Ok(()) => Ok(key),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                Self::read(path)?.with_context(|| format!("{} disappeared", path.display()))
            }
            Err(error) => Err(error).with_context(|| format!("cannot write {}", path.display())),
        }
    }

    /// The key with a new generation before all others.
    pub fn with_next(&self) -> anyhow::Result<Self> {
        let mut generations = vec![Generation::random()?];
        generations.extend(self.generations.iter().cloned());
        Ok(Self { generations })
    }

    /// The key without the generations before the last.
    #[must_use]
    pub fn with_kept(&self) -> Self {
        Self { generations: self.generations.iter().take(KEPT_GENERATIONS).cloned().collect() }
    }

    /// True if this key opens all that the other one seals now.
    pub(super) fn includes(&self, other: &Self) -> bool {
        let newest = other.generations.first().map(|generation| generation.bytes);
        self.generations.iter().any(|generation| Some(generation.bytes) == newest)
    }

    /// Writes the key into a file, in the place of another key.
    pub fn save(&self, path: &Path) -> anyhow::Result<()> {
        self.write(path, |partial, path| fs::rename(partial, path))?
            .with_context(|| format!("cannot write {}", path.display()))
    }

    /// Writes a file of another name and then gives it the right one, so that another process never reads half of it.
    fn write(
        &self,
        path: &Path,
        finish: impl FnOnce(&Path, &Path) -> std::io::Result<()>,
    ) -> anyhow::Result<std::io::Result<()>> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
        }
        let partial = path.with_extension(format!("{}.tmp", std::process::id()));
        let lines: Vec<_> = self.generations.iter().map(|generation| BASE64.encode(generation.bytes)).collect();
        let written = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&partial).and_then(
            |mut file| {
                file.write_all(format!("{}\n", lines.join("\n")).as_bytes())?;
                file.sync_all()
            },
        );
        let finished = written.and_then(|()| finish(&partial, path));
        let _ = fs::remove_file(&partial);
        Ok(finished)
    }

    /// Sealed form of a secret, valid only for this context.
    pub fn seal(&self, context: &str, secret: &[u8]) -> Result<Vec<u8>, hub_db::Error> {
        let failed = |_| hub_db::Error::from(sqlx::Error::Encode(RANDOM.into()));
        let newest = self.generations.first().ok_or(sqlx::Error::Encode("there is no secrets key".into()))?;
        let mut nonce = [0; NONCE_LEN];
        SystemRandom::new().fill(&mut nonce).map_err(failed)?;
        let mut sealed = secret.to_vec();
        let aad = Aad::from(context.as_bytes());
        newest.key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut sealed).map_err(failed)?;
        Ok([&nonce[..], &sealed].concat())
    }

    /// Sealed form of a text.
    pub fn seal_text(&self, context: &str, text: &str) -> Result<String, hub_db::Error> {
        Ok(format!("{SEALED}{}", BASE64.encode(self.seal(context, text.as_bytes())?)))
    }

    /// The text; none if it is not sealed, or by another key, or for another context.
    pub fn unseal_text(&self, context: &str, stored: &str) -> Option<String> {
        String::from_utf8(self.unseal(context, &BASE64.decode(stored.strip_prefix(SEALED)?).ok()?)?).ok()
    }

    /// The secret; none if another key sealed it, or for another context.
    pub fn unseal(&self, context: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        self.generations.iter().find_map(|generation| generation.unseal(context, sealed))
    }

    /// Sealed form of a secret by the newest generation; none if it has it already, or no generation opens it.
    pub fn reseal(&self, context: &str, sealed: &[u8]) -> Result<Option<Vec<u8>>, hub_db::Error> {
        let mut older = self.generations.iter();
        if older.next().is_none_or(|newest| newest.unseal(context, sealed).is_some()) {
            return Ok(None);
        }
        older.find_map(|it| it.unseal(context, sealed)).map(|secret| self.seal(context, &secret)).transpose()
    }

    /// The same of a text.
    pub fn reseal_text(&self, context: &str, stored: &str) -> Result<Option<String>, hub_db::Error> {
        let sealed = stored.strip_prefix(SEALED).and_then(|sealed| BASE64.decode(sealed).ok());
        let resealed = sealed.map(|sealed| self.reseal(context, &sealed)).transpose()?.flatten();
        Ok(resealed.map(|sealed| format!("{SEALED}{}", BASE64.encode(sealed))))
    }

    /// Fingerprints of a text by all generations, newest first: by them a row is found, and without the key nobody can tell
    /// the text, however short.
    pub fn macs(&self, context: &str, text: &str) -> Vec<Vec<u8>> {
        self.generations.iter().map(|generation| generation.mac(context, text)).collect()
    }
}

impl std::fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SealingKey").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn only_the_same_key_and_context_unseal() {
        let folder = std::env::temp_dir().join(format!("hub-sealing-key-{}", std::process::id()));
        let path = folder.join("secrets.key");
        assert!(SealingKey::read(&path).unwrap().is_none());
        let key = SealingKey::create(&path).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let sealed = key.seal("a", b"secret").unwrap();
        assert_ne!(sealed, key.seal("a", b"secret").unwrap());
        // A second creation finds the first one's key.
        for key in [key, SealingKey::create(&path).unwrap(), SealingKey::read(&path).unwrap().unwrap()] {
            assert_eq!(key.unseal("a", &sealed).unwrap(), b"secret");
            assert_eq!(key.unseal("b", &sealed), None);
            assert_eq!(key.unseal("a", &sealed[1..]), None);
        }
        let other = SealingKey::create(&folder.join("other.key")).unwrap();
        assert_eq!(other.unseal("a", &sealed), None);
        let key = SealingKey::read(&path).unwrap().unwrap();
        let text = key.seal_text("a", "whsec_x").unwrap();
        assert!(text.starts_with(SEALED) && !text.contains("whsec"));
        assert_eq!((key.unseal_text("a", &text).unwrap(), key.unseal_text("b", &text)), ("whsec_x".to_owned(), None));
        assert_eq!((other.unseal_text("a", &text), key.unseal_text("a", "x")), (None, None));
        assert!(key.macs("a", "x") != other.macs("a", "x") && key.macs("a", "x") != key.macs("b", "x"));
        fs::write(&path, "no key").unwrap();
        assert!(SealingKey::read(&path).unwrap_err().to_string().contains("not a hub's secrets key"));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn older_generations_open_until_the_rotation_after_the_next() {
        let first = SealingKey::new(&[1; LENGTH]).unwrap();
        let sealed = first.seal("a", b"secret").unwrap();
        let second = first.with_next().unwrap().with_kept();
        assert!(second.includes(&first) && !first.includes(&second));
        let again = second.reseal("a", &sealed).unwrap().unwrap();
        assert_eq!((first.unseal("a", &again), second.reseal("a", &again).unwrap()), (None, None));
        assert_eq!(second.macs("a", "x")[1..], first.macs("a", "x")[..]);
        let third = second.with_next().unwrap().with_kept();
        assert_eq!((third.unseal("a", &sealed), third.unseal("a", &again).unwrap()), (None, b"secret".to_vec()));
        assert_eq!(third.reseal("a", &sealed).unwrap(), None);
    }
}
