//! Exports a network from the database to a file.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::{Context as _, ensure};
use futures_util::TryStreamExt as _;
use hub_db::{Db, Snapshot, Table};
use sha2::{Digest as _, Sha256};
use tar::{Builder, EntryType, Header};
use tempfile::NamedTempFile;

use crate::archive::files::{self, ModuleHashes, ModuleVersion, NamedFile};
use crate::archive::format::{FORMAT, MANIFEST, Manifest, PartHasher, Report, SUMMARY, Summary, chunk_name, write_row};
use crate::archive::progress::Counted;
use crate::archive::row::{Row, text};
use crate::blobs::Blobs;
use crate::component::{NetworkTable, Tables, open_row};
use crate::config::Settings;
use crate::secrets::{KeyState, SealingKey, key_state};
use crate::values::{NetworkId, hex};

/// A table's chunk ends with the row that reaches this size.
pub(super) const CHUNK_SIZE: usize = 1024 * 1024;
/// Tar pads each member to whole blocks.
const BLOCK_SIZE: usize = 512;

/// Exports a network, as of one moment in both databases, to a file that must not exist yet.
pub async fn export(
    settings: &Settings,
    db: &Db,
    module_store: &Db,
    tables: &Tables,
    network: NetworkId,
    out: &Path,
) -> anyhow::Result<Report> {
    ensure!(!out.exists(), "{} already exists", out.display());
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Readable only by its owner: it contains the network's secrets.
    let file = NamedTempFile::new_in(folder).with_context(|| format!("cannot write to {}", folder.display()))?;
    let blobs = Blobs::open(settings, db)?;
    // Before the snapshot, which may hold the only connection to the database.
    let key = key(settings, db).await?;
    let mut hub = db.snapshot().await?;
    let mut modules = module_store.snapshot().await?;
    let mut name = None;
    let networks = tables.networks();
    hub.for_each_row(networks, network.0, |row| {
        name = text(networks, &row, "name").map(str::to_owned);
        Ok::<_, hub_db::Error>(())
    })
    .await?;
    let name = name.with_context(|| format!("there is no network {network}"))?;
    let manifest = Manifest { format: FORMAT, schema: hub_db::schema_version(), network, name };
    let mut writer = Writer {
        network,
        key,
        tar: Builder::new(BufWriter::with_capacity(CHUNK_SIZE, Counted(file))),
        summary: Summary::default(),
        modules: HashMap::new(),
        files: vec![],
    };
    append_json(&mut writer.tar, MANIFEST, &manifest)?;
    for table in tables.moved() {
        let from = if table.rule.is_in_module_store { &mut modules } else { &mut hub };
        writer.table(from, table).await.with_context(|| format!("the table {}", table.name))?;
    }
    hub.close().await?;
    modules.close().await?;
    writer.files(&blobs).await?;
    let report = Report::new(&manifest, &writer.summary);
    let file = writer.finish()?;
    file.as_file().sync_all()?;
    file.persist_noclobber(out).map_err(|error| error.error).with_context(|| out.display().to_string())?;
    File::open(folder)?.sync_all()?;
    Ok(report)
}

/// The key of the database, without which the file would lack secrets; none if nothing is sealed yet.
async fn key(settings: &Settings, db: &Db) -> anyhow::Result<Option<SealingKey>> {
    let path = settings.secrets_key_file();
    ensure!(
        matches!(key_state(&path, db).await?, KeyState::Fits | KeyState::Unused),
        "{} is not the key of this database; name that one by --secrets-key (HUB_SECRETS_KEY)",
        path.display()
    );
    SealingKey::read(&path)
}

struct Writer {
    network: NetworkId,
    /// Opens the network's secrets, for the other hub.
    key: Option<SealingKey>,
    tar: Builder<BufWriter<Counted<NamedTempFile>>>,
    summary: Summary,
    modules: HashMap<ModuleVersion, ModuleHashes>,
    /// Files referenced by the rows so far, in order.
    files: Vec<NamedFile>,
}

impl Writer {
    async fn table(&mut self, from: &mut Snapshot, table: &NetworkTable) -> anyhow::Result<()> {
        let (mut hasher, mut number, mut lines) = (PartHasher::default(), 0, Vec::new());
        let network = self.network;
        from.for_each_row(table, network.0, |mut row| {
            open_row(self.key.as_ref(), table, network, &mut row)?;
            self.collect_files(table, &row)?;
            write_row(&row, &mut lines)?;
            hasher.count += 1;
            if lines.len() >= CHUNK_SIZE {
                number += 1;
                self.chunk(table, number, &mut hasher, &mut lines)?;
            }
            Ok::<_, anyhow::Error>(())
        })
        .await?;
        if !lines.is_empty() {
            self.chunk(table, number + 1, &mut hasher, &mut lines)?;
        }
        self.summary.tables.push(hasher.part(table.name));
        Ok(())
    }

    /// Collects the files that a row names.
    fn collect_files(&mut self, table: &Table, row: &Row) -> anyhow::Result<()> {
        match table.name {
            "modules" => self.modules.extend([ModuleHashes::of(table, row)?]),
            "module_code" => {
                let version = files::version(table, row).context("a module has no name")?;
                let hashes = self.modules.get(&version).context("bytes of an unknown module")?;
                self.files.extend(hashes.files(self.network, &version, table, row)?);
            }
            _ => self.files.extend(NamedFile::of(self.network, table, row)?),
        }
        Ok(())
    }

    fn chunk(&mut self, table: &Table, number: u32, hasher: &mut PartHasher, lines: &mut Vec<u8>) -> io::Result<()> {
        hasher.hash.update(&*lines);
        append_member(&mut self.tar, &chunk_name(table.name, number), lines)?;
        lines.clear();
        // Frees the memory of a large row.
        lines.shrink_to(2 * CHUNK_SIZE);
        Ok(())
    }

    /// Writes all referenced files, in the order of the rows.
    async fn files(&mut self, blobs: &Blobs) -> anyhow::Result<()> {
        let mut hasher = PartHasher::default();
        for file in std::mem::take(&mut self.files) {
            let sha256 = append_file(&mut self.tar, &file, blobs).await.with_context(|| {
                format!("{}; if a running hub still changes this network, suspend it first", file.member_name)
            })?;
            hasher.count += 1;
            hasher.hash.update(format!("{} {sha256}\n", file.member_name));
        }
        self.summary.files = hasher.part("files");
        Ok(())
    }

    fn finish(mut self) -> anyhow::Result<NamedTempFile> {
        let summary = std::mem::take(&mut self.summary);
        append_json(&mut self.tar, SUMMARY, &summary)?;
        let mut buffered = self.tar.into_inner()?;
        buffered.flush()?;
        Ok(buffered.into_inner().map_err(io::IntoInnerError::into_error)?.0)
    }
}

/// Appends a file and returns its SHA-256, which must match the row's.
pub(super) async fn append_file<W: Write>(
    tar: &mut Builder<W>,
    file: &NamedFile,
    blobs: &Blobs,
) -> anyhow::Result<String> {
    let blob = files::open(blobs, file).await?;
    let (size, mut bytes) = (blob.size, blob.stream());
    let header = header(&file.member_name, size)?;
    // Like `Builder::append`, but from an asynchronous stream.
    let tar = tar.get_mut();
    tar.write_all(header.as_bytes())?;
    let (mut hash, mut written) = (Sha256::new(), 0);
    while let Some(chunk) = bytes.try_next().await? {
        hash.update(&chunk);
        written += chunk.len() as u64;
        tar.write_all(&chunk)?;
    }
    ensure!(written == size, "{} ended early", file.key);
    tar.write_all(&[0; BLOCK_SIZE][..size.next_multiple_of(BLOCK_SIZE as u64).wrapping_sub(size) as usize])?;
    let sha256 = hex(&hash.finalize());
    let is_right = file.sha256.as_ref().is_none_or(|known| *known == sha256);
    ensure!(is_right, "{} has a wrong SHA-256", file.member_name);
    Ok(sha256)
}

/// Appends a JSON text and a line break.
pub(super) fn append_json(
    tar: &mut Builder<impl Write>,
    member: &str,
    value: &impl serde::Serialize,
) -> anyhow::Result<()> {
    let mut text = serde_json::to_vec(value)?;
    text.push(b'\n');
    Ok(append_member(tar, member, &text)?)
}

/// Appends bytes as a member with this name.
pub(super) fn append_member(tar: &mut Builder<impl Write>, name: &str, bytes: &[u8]) -> io::Result<()> {
    tar.append(&header(name, bytes.len() as u64)?, bytes)
}

/// Header with only a name and a size, so that two exports of a network are identical.
fn header(name: &str, size: u64) -> io::Result<Header> {
    let mut header = Header::new_ustar();
    header.set_path(name)?;
    header.set_size(size);
    header.set_mode(0o600);
    header.set_mtime(0);
    header.set_entry_type(EntryType::Regular);
    header.set_cksum();
    Ok(header)
}
