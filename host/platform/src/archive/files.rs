//! Files of the archive: blobs referenced by rows.

use std::io::{self, Read};

use anyhow::{Context as _, ensure};
use bytes::Bytes;
use futures_util::TryStreamExt as _;
use hub_db::Table;
use sha2::{Digest as _, Sha256};

use crate::archive::row::{Row, bytes, integer, text};
use crate::blobs::{Blob, BlobKey, BlobWriter, Blobs};
use crate::clock::Clock;
use crate::ids::Ids;
use crate::values::{NetworkId, hex};

/// Number of bytes read at once.
const READ_SIZE: usize = 1024 * 1024;

/// A blob referenced by a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedFile {
    pub(super) key: BlobKey,
    /// Name in the archive.
    pub(super) member_name: String,
    /// None for wrapped components.
    pub(super) size: Option<u64>,
    /// None for snapshots.
    pub(super) sha256: Option<String>,
}

impl NamedFile {
    /// Returns the blob referenced by a row of `artifacts`, `provisioning_bundles` or `world_blobs`, if any. Names
    /// that the hub would not create are refused: they might lead to any key.
    pub(super) fn of(network: NetworkId, table: &Table, row: &Row) -> anyhow::Result<Option<Self>> {
        let (folder, column) = match table.name {
            "artifacts" => ("artifacts", "artifact_id"),
            "provisioning_bundles" => ("bundles", "file_id"),
            "world_blobs" => ("worlds", "file"),
            _ => return Ok(None),
        };
        let Some(name) = text(table, row, column) else {
            // A node stored it itself, or it is not uploaded yet.
            return Ok(None);
        };
        let is_snapshot = table.name == "world_blobs";
        let id =
            if is_snapshot { name.strip_prefix(&format!("{network}/")) } else { (!name.contains('/')).then_some(name) };
        let is_plain =
            |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        ensure!(id.is_some_and(|id| id.split('/').all(is_plain)), "`{name}` is not a valid file name of the hub");
        let size = integer(table, row, "size_bytes").and_then(|size| u64::try_from(size).ok());
        ensure!(size.is_some(), "the file `{name}` has no size");
        let sha256 = text(table, row, "sha256").map(str::to_owned);
        let key = match (folder, &sha256) {
            ("worlds", _) => BlobKey::snapshot(network, name),
            (_, None) => anyhow::bail!("the file `{name}` has no SHA-256"),
            ("artifacts", Some(sha256)) => BlobKey::artifact(network, check_sha256(sha256)?, name),
            (_, Some(sha256)) => BlobKey::bundle(network, check_sha256(sha256)?, name),
        };
        Ok(Some(Self { key, member_name: format!("files/{folder}/{name}"), size, sha256 }))
    }

    /// An uploaded module, or the component built from it.
    fn of_module(key: BlobKey, (name, version): &ModuleVersion, size: Option<u64>, sha256: &str) -> Self {
        let member_name = format!("files/modules/{sha256}/{name}-{version}");
        Self { key, member_name, size, sha256: Some(sha256.to_owned()) }
    }
}

/// Name and version of a module.
pub(super) type ModuleVersion = (String, i64);

/// Expected hashes and size of a version's bytes.
#[derive(Clone)]
pub(super) struct ModuleHashes {
    pub(super) upload: String,
    pub(super) size: u64,
    pub(super) component: Option<String>,
}

impl ModuleHashes {
    /// Reads them from a row of `modules`.
    pub(super) fn of(table: &Table, row: &Row) -> anyhow::Result<(ModuleVersion, Self)> {
        let version = version(table, row).context("a module has no name")?;
        let upload = text(table, row, "sha256").context("a module has no SHA-256")?;
        let size = integer(table, row, "size_bytes").and_then(|size| u64::try_from(size).ok());
        let component = text(table, row, "component_id").map(|id| check_sha256(id).map(str::to_owned)).transpose()?;
        let hashes =
            Self { upload: check_sha256(upload)?.to_owned(), size: size.context("a module has no size")?, component };
        Ok((version, hashes))
    }

    /// Blobs of a row of `module_code`, whose columns are empty if the bytes are in a blob.
    pub(super) fn files(
        &self,
        network: NetworkId,
        version: &ModuleVersion,
        table: &Table,
        row: &Row,
    ) -> anyhow::Result<Vec<NamedFile>> {
        let (name, number) = version;
        let mut files = vec![];
        if bytes(table, row, "upload").context("a module has no bytes")?.is_empty() {
            let key = BlobKey::module_upload(network, &self.upload, name, *number);
            files.push(NamedFile::of_module(key, version, Some(self.size), &self.upload));
        }
        if bytes(table, row, "component").is_some_and(<[u8]>::is_empty) {
            let id = self.component.as_deref().context("a module's component has no SHA-256")?;
            let key = BlobKey::module_component(network, id, name, *number);
            files.push(NamedFile::of_module(key, version, None, id));
        }
        Ok(files)
    }
}

/// Name and version of a module. The name becomes part of a key, so it must be plain.
pub(super) fn version(table: &Table, row: &Row) -> Option<ModuleVersion> {
    let is_plain = |name: &&str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    text(table, row, "name").filter(is_plain).map(str::to_owned).zip(integer(table, row, "version"))
}

fn check_sha256(text: &str) -> anyhow::Result<&str> {
    let is_sha256 = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    ensure!(is_sha256, "`{text}` is not a SHA-256");
    Ok(text)
}

/// Opens a blob, which must have the size in its row.
pub(super) async fn open(blobs: &Blobs, file: &NamedFile) -> anyhow::Result<Blob> {
    let blob = blobs.get(&file.key).await?.with_context(|| format!("{} is missing", file.key))?;
    if let Some(size) = file.size {
        ensure!(blob.size == size, "{} has {} bytes instead of {size}", file.key, blob.size);
    }
    Ok(blob)
}

/// Stores a file under its key. False if the same bytes were there before, for example in a store shared by both hubs.
pub(super) async fn store(blobs: &Blobs, ids: &Ids, file: &NamedFile, from: &mut dyn Read) -> anyhow::Result<bool> {
    let mut writer = blobs.writer(Clock::System.now(), ids);
    let sha256 = copy(from, &mut writer).await?;
    let copied = writer.finish().await?;
    // An unreferenced blob, left by a failed or killed import, is replaced.
    if !blobs.is_unreferenced(&file.key).await?
        && let Some(existing) = blobs.get(&file.key).await?
    {
        copied.discard().await?;
        ensure!(sha256_of(existing).await? == sha256, "{} already exists with other bytes", file.key);
        return Ok(false);
    }
    copied.store(&file.key, Clock::System.now()).await?;
    Ok(true)
}

async fn copy(from: &mut dyn Read, writer: &mut BlobWriter) -> anyhow::Result<String> {
    let mut hash = Sha256::new();
    loop {
        let mut chunk = Vec::with_capacity(READ_SIZE);
        if from.take(READ_SIZE as u64).read_to_end(&mut chunk)? == 0 {
            return Ok(hex(&hash.finalize()));
        }
        hash.update(&chunk);
        writer.append(Bytes::from(chunk)).await?;
    }
}

async fn sha256_of(blob: Blob) -> io::Result<String> {
    let (mut bytes, mut hash) = (blob.stream(), Sha256::new());
    while let Some(chunk) = bytes.try_next().await? {
        hash.update(&chunk);
    }
    Ok(hex(&hash.finalize()))
}
