//! The key that seals secrets in the database: a file beside the database, never part of a backup.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom as _, SystemRandom};

const LENGTH: usize = 32;
/// Beginning of a sealed text in a column whose texts may also be plain.
const SEALED: &str = "sealed:";
const RANDOM: &str = "the system's random numbers are not available";

/// Seals secrets, each for one context.
pub struct SealingKey {
    bytes: [u8; LENGTH],
    key: LessSafeKey,
}

impl SealingKey {
    pub(super) fn new(bytes: [u8; LENGTH]) -> anyhow::Result<Self> {
        let key = UnboundKey::new(&CHACHA20_POLY1305, &bytes).map_err(|_| anyhow::anyhow!("unusable key"))?;
        Ok(Self { bytes, key: LessSafeKey::new(key) })
    }

    pub(super) fn bytes(&self) -> &[u8; LENGTH] {
        &self.bytes
    }

    /// Reads the key's file; none if it does not exist.
    pub fn read(path: &Path) -> anyhow::Result<Option<Self>> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        let bytes = BASE64.decode(text.trim()).ok().and_then(|bytes| bytes.try_into().ok());
        let bytes = bytes.with_context(|| format!("{} is not a hub's secrets key", path.display()))?;
        Self::new(bytes).map(Some)
    }

    /// Creates the key's file, readable only by the hub's user. Another process may create it first: its key is used.
    pub fn create(path: &Path) -> anyhow::Result<Self> {
        let mut bytes = [0; LENGTH];
        SystemRandom::new().fill(&mut bytes).map_err(|_| anyhow::anyhow!(RANDOM))?;
        let key = Self::new(bytes)?;
        let linked = key.write(path, |partial, path| fs::hard_link(partial, path))?;
        match linked {
            Ok(()) => Ok(key),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                Self::read(path)?.with_context(|| format!("{} disappeared", path.display()))
            }
            Err(error) => Err(error).with_context(|| format!("cannot write {}", path.display())),
        }
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
        let written = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&partial).and_then(
            |mut file| {
                file.write_all(format!("{}\n", BASE64.encode(self.bytes)).as_bytes())?;
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
        let mut nonce = [0; NONCE_LEN];
        SystemRandom::new().fill(&mut nonce).map_err(failed)?;
        let mut sealed = secret.to_vec();
        let aad = Aad::from(context.as_bytes());
        self.key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut sealed).map_err(failed)?;
        Ok([&nonce[..], &sealed].concat())
    }

    /// Sealed form of a text, for a column of texts.
    pub fn seal_text(&self, context: &str, text: &str) -> Result<String, hub_db::Error> {
        Ok(format!("{SEALED}{}", BASE64.encode(self.seal(context, text.as_bytes())?)))
    }

    /// A text from such a column that needs no key; none if it is sealed.
    pub fn plain(stored: &str) -> Option<String> {
        (!stored.starts_with(SEALED)).then(|| stored.to_owned())
    }

    /// A text from such a column; none if another key sealed it. One that is not sealed is itself.
    pub fn unseal_text(&self, context: &str, stored: &str) -> Option<String> {
        let Some(sealed) = stored.strip_prefix(SEALED) else { return Some(stored.to_owned()) };
        String::from_utf8(self.unseal(context, &BASE64.decode(sealed).ok()?)?).ok()
    }

    /// The secret; none if another key sealed it, or for another context.
    pub fn unseal(&self, context: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE_LEN>()?;
        let mut secret = sealed.to_vec();
        let aad = Aad::from(context.as_bytes());
        let length = self.key.open_in_place(Nonce::assume_unique_for_key(*nonce), aad, &mut secret).ok()?.len();
        secret.truncate(length);
        Some(secret)
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
        assert_eq!((other.unseal_text("a", &text), other.unseal_text("a", "x").unwrap()), (None, "x".to_owned()));
        fs::write(&path, "no key").unwrap();
        assert!(SealingKey::read(&path).unwrap_err().to_string().contains("not a hub's secrets key"));
        fs::remove_dir_all(folder).unwrap();
    }
}
