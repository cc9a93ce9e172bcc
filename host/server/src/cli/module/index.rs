//! Index of published modules: a folder, or what a web server makes of it, with `index.json` and a file for each version.
//!
//! Each entry is signed by its publisher, and has the digest of its file: whoever keeps the folder cannot change a module. The
//! publisher's key is remembered by the index's place when it was confirmed once, as hosts of SSH are.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use semver::Version;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::cli::client::segment;
use crate::cli::profiles::config_folder;
use crate::http_client;
use crate::values::hex;

const INDEX: &str = "index.json";
/// Version of the format.
const FORMAT: u32 = 1;
const MAX_INDEX: usize = 4 << 20;
/// The hub takes no larger one.
const MAX_MODULE: usize = 64 << 20;
/// Beginning of what is signed, so that a signature is good for nothing else.
const PURPOSE: &[u8] = b"network-hub module\0";

/// The file `index.json`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Index {
    /// Version of this format.
    #[serde(rename = "index")]
    format: u32,
    pub(super) publisher: Publisher,
    modules: Vec<Signed>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Publisher {
    /// Name for people.
    pub(super) name: String,
    /// Ed25519 public key, in hexadecimal.
    pub(super) key: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Signed {
    #[serde(flatten)]
    entry: Entry,
    /// Signature over [`PURPOSE`] and the entry as JSON, in hexadecimal.
    signature: String,
}

/// A version of a module. Its fields are signed in this order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) version: Version,
    pub(super) description: String,
    /// File beside the index.
    pub(super) file: String,
    pub(super) size: usize,
    /// SHA-256 of the file, in hexadecimal.
    pub(super) sha256: String,
}

impl Entry {
    pub(super) fn new(name: &str, version: Version, description: String, component: &[u8]) -> anyhow::Result<Self> {
        let name = segment(name).map_err(|reason| anyhow::anyhow!("`{name}`: {reason}"))?;
        let file = format!("{name}-{version}.wasm");
        Ok(Self { name, version, description, file, size: component.len(), sha256: sha256(component) })
    }

    fn signed_bytes(&self) -> anyhow::Result<Vec<u8>> {
        Ok([PURPOSE, &serde_json::to_vec(self)?].concat())
    }

    fn check(&self, component: &[u8]) -> anyhow::Result<()> {
        let is_it = component.len() == self.size && sha256(component) == self.sha256;
        ensure!(is_it, "{} is not the file that its publisher signed", self.file);
        Ok(())
    }
}

fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
        u8::from_str_radix(pair, 16).ok()
    });
    digits.collect()
}

impl Index {
    /// Entry of a module, the newest unless a version is given.
    pub(super) fn find(&self, name: &str, version: Option<&Version>) -> anyhow::Result<&Entry> {
        let is_it = |entry: &&Entry| entry.name == name && version.is_none_or(|version| entry.version == *version);
        let newest = self.entries().filter(is_it).max_by(|one, other| one.version.cmp(&other.version));
        let wanted = version.map_or_else(|| name.to_owned(), |version| format!("{name} {version}"));
        newest.with_context(|| format!("the index has no module {wanted}"))
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.modules.iter().map(|signed| &signed.entry)
    }

    fn parse(text: &[u8]) -> anyhow::Result<Self> {
        let index: Self = serde_json::from_slice(text).context("this is no index of modules")?;
        ensure!(index.format == FORMAT, "the index has format {}, but this hub reads {FORMAT}", index.format);
        let key = from_hex(&index.publisher.key).context("the publisher's key is not hexadecimal")?;
        let key = UnparsedPublicKey::new(&ED25519, key);
        for Signed { entry, signature } in &index.modules {
            let is_signed = from_hex(signature)
                .is_some_and(|it| key.verify(&entry.signed_bytes().unwrap_or_default(), &it).is_ok());
            ensure!(is_signed, "the publisher's key did not sign {} {}", entry.name, entry.version);
            ensure!(segment(&entry.name).is_ok() && segment(&entry.file).is_ok(), "`{}` is no name", entry.name);
        }
        Ok(index)
    }
}

/// Place of an index.
#[derive(Clone, Debug)]
pub(super) enum Place {
    Folder(PathBuf),
    /// Ends with a slash.
    Url(reqwest::Url),
}

impl Place {
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        if !text.contains("://") {
            let folder = fs::canonicalize(text).with_context(|| format!("no folder {text}"))?;
            return Ok(Self::Folder(folder));
        }
        let text = text.trim_end_matches(INDEX).trim_end_matches('/');
        let url: reqwest::Url = format!("{text}/").parse().with_context(|| format!("`{text}` is no address"))?;
        ensure!(
            ["http", "https"].contains(&url.scheme()),
            "`{text}` is no address that begins with https:// or http://"
        );
        Ok(Self::Url(url))
    }

    /// Name under which the publisher's key is remembered.
    fn name(&self) -> String {
        match self {
            Self::Folder(folder) => folder.display().to_string(),
            Self::Url(url) => url.to_string(),
        }
    }

    async fn read(&self, file: &str, most: usize) -> anyhow::Result<Vec<u8>> {
        match self {
            Self::Folder(folder) => {
                let path = folder.join(file);
                let cannot = || format!("cannot read {}", path.display());
                let size = fs::metadata(&path).with_context(cannot)?.len();
                ensure!(size <= most as u64, "{} has {size} bytes, more than {most}", path.display());
                fs::read(&path).with_context(cannot)
            }
            Self::Url(base) => {
                let url = base.join(file)?;
                let cannot = || format!("cannot read {url}");
                let mut response = http_client::client()?.get(url.clone()).send().await.with_context(cannot)?;
                ensure!(response.status().is_success(), "{}: {}", cannot(), response.status());
                let mut bytes = vec![];
                while let Some(chunk) = response.chunk().await.with_context(cannot)? {
                    bytes.extend_from_slice(&chunk);
                    ensure!(bytes.len() <= most, "{url} has more than {most} bytes");
                }
                Ok(bytes)
            }
        }
    }

    /// The index, whose publisher must be known: `confirmed` is their key, as they told it.
    pub(super) async fn index(&self, confirmed: Option<&str>) -> anyhow::Result<Index> {
        let index = Index::parse(&self.read(INDEX, MAX_INDEX).await?)?;
        let mut known = KnownPublishers::read()?;
        known.check(&self.name(), &index.publisher, confirmed)?;
        Ok(index)
    }

    /// The component of an entry.
    pub(super) async fn component(&self, entry: &Entry) -> anyhow::Result<Vec<u8>> {
        let component = self.read(&entry.file, MAX_MODULE).await?;
        entry.check(&component)?;
        Ok(component)
    }
}

/// Keys of publishers that were confirmed, by their index's place.
#[derive(Default, Serialize, Deserialize)]
#[serde(transparent)]
struct KnownPublishers(BTreeMap<String, Publisher>);

impl KnownPublishers {
    fn file() -> anyhow::Result<PathBuf> {
        Ok(config_folder()?.join("publishers.json"))
    }

    fn read() -> anyhow::Result<Self> {
        let path = Self::file()?;
        match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text).with_context(|| format!("{} is damaged", path.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    /// Fails unless the publisher is the known one, or the one that is confirmed now.
    fn check(&mut self, place: &str, publisher: &Publisher, confirmed: Option<&str>) -> anyhow::Result<()> {
        let Publisher { name, key } = publisher;
        let known = self.0.get(place);
        match confirmed {
            Some(confirmed) => {
                ensure!(confirmed.eq_ignore_ascii_case(key), "the index is signed by {key}, not by {confirmed}");
            }
            None => match known {
                Some(known) if known.key == *key => return Ok(()),
                Some(known) => bail!(
                    "the index was signed by {} ({}), and is signed by {key} now: if the publisher says so, pass --publisher {key}",
                    known.key,
                    known.name
                ),
                None => bail!(
                    "the publisher of this index, who calls themselves {name}, is not known here yet: compare the key {key} with \
                     what they say, and pass --publisher {key} once"
                ),
            },
        }
        self.0.insert(place.to_owned(), publisher.clone());
        write(&Self::file()?, &serde_json::to_vec_pretty(&self)?, 0o600)
    }
}

/// Key of a publisher.
pub(super) struct PublisherKey(Ed25519KeyPair);

impl PublisherKey {
    /// The user's own key, if no file is named.
    pub(super) fn default_file() -> anyhow::Result<PathBuf> {
        Ok(config_folder()?.join("publisher.key"))
    }

    /// Reads a key; a new one is made where there is none.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let made = Ed25519KeyPair::generate_pkcs8(&ring::rand::SystemRandom::new());
                let made = made.map_err(|_| anyhow::anyhow!("no randomness for a key"))?;
                let text = hex(made.as_ref());
                write(path, text.as_bytes(), 0o600)?;
                eprintln!("made a key in {}: keep it, and tell nobody", path.display());
                text
            }
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        let pair = from_hex(text.trim()).and_then(|bytes| Ed25519KeyPair::from_pkcs8(&bytes).ok());
        Ok(Self(pair.with_context(|| format!("{} is no publisher's key", path.display()))?))
    }

    pub(super) fn public(&self) -> String {
        hex(self.0.public_key().as_ref())
    }
}

/// Adds a version to the index in a folder, with its file.
pub(super) fn add(
    folder: &Path,
    key: &PublisherKey,
    name: Option<&str>,
    entry: Entry,
    component: &[u8],
) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot write {}", folder.display()))?;
    let path = folder.join(INDEX);
    let mut index = match fs::read(&path) {
        Ok(text) => Index::parse(&text).with_context(|| path.display().to_string())?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let name = name.context("a new index needs --publisher-name, the name of its publisher")?.to_owned();
            Index { format: FORMAT, publisher: Publisher { name, key: key.public() }, modules: vec![] }
        }
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    ensure!(
        index.publisher.key == key.public(),
        "the index is of another publisher, with the key {}",
        index.publisher.key
    );
    let is_there = index.entries().any(|other| other.name == entry.name && other.version == entry.version);
    ensure!(!is_there, "{} {} is published already: versions do not change", entry.name, entry.version);
    // The file first: an index never names one that is not there.
    write(&folder.join(&entry.file), component, 0o644)?;
    let signature = hex(key.0.sign(&entry.signed_bytes()?).as_ref());
    index.modules.push(Signed { entry, signature });
    write(&path, &serde_json::to_vec_pretty(&index)?, 0o644)
}

/// Replaces a file as a whole.
fn write(path: &Path, bytes: &[u8], mode: u32) -> anyhow::Result<()> {
    let cannot = || format!("cannot write {}", path.display());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder).with_context(cannot)?;
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = PathBuf::from(name);
    let mut options = fs::OpenOptions::new();
    let mut out = options.write(true).create(true).truncate(true).mode(mode).open(&new).with_context(cannot)?;
    out.write_all(bytes).with_context(cannot)?;
    out.sync_all().with_context(cannot)?;
    fs::rename(&new, path).with_context(cannot)
}
