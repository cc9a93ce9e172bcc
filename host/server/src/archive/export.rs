//! Writes a network from the database to a file.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write as _};
use std::path::Path;

use anyhow::{Context as _, ensure};
use hub_db::{Db, Snapshot, Table};
use sha2::Digest as _;
use tar::{Builder, EntryType, Header};
use tempfile::NamedTempFile;

use crate::archive::files::{FileStore, NamedFile};
use crate::archive::format::{FORMAT, MANIFEST, Manifest, PartHasher, Report, SUMMARY, Summary, chunk_name, write_row};
use crate::archive::hashing::HashingReader;
use crate::archive::tables::{NETWORKS, TABLES, is_of_module_store, text};
use crate::config::Settings;
use crate::values::NetworkId;

/// A chunk of a table ends with the row that reaches this size.
const CHUNK_SIZE: usize = 1024 * 1024;

/// Exports a network to a file that must not exist yet, as both databases hold it at one moment.
pub(crate) async fn export(
    settings: &Settings,
    db: &Db,
    module_store: &Db,
    network: NetworkId,
    out: &Path,
) -> anyhow::Result<Report> {
    ensure!(!out.exists(), "{} is there already", out.display());
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Only its owner may read it: it holds the network's secrets.
    let file = NamedTempFile::new_in(folder).with_context(|| format!("cannot write to {}", folder.display()))?;
    let store = FileStore::open(settings)?;
    let mut hub = db.snapshot().await?;
    let mut modules = module_store.snapshot().await?;
    let mut name = None;
    hub.for_each_row(NETWORKS, network.0, |row| {
        name = text(NETWORKS, &row, "name").map(str::to_owned);
        Ok::<_, hub_db::Error>(())
    })
    .await?;
    let name = name.with_context(|| format!("there is no network {network}"))?;
    let manifest = Manifest { format: FORMAT, schema: hub_db::schema_version(), network, name };
    let mut writer =
        Writer { tar: Builder::new(BufWriter::with_capacity(CHUNK_SIZE, file)), summary: Summary::default() };
    writer.json(MANIFEST, &manifest)?;
    for table in TABLES {
        let from = if is_of_module_store(table) { &mut modules } else { &mut hub };
        writer.table(from, network, table).await.with_context(|| format!("the table {}", table.name))?;
    }
    writer.files(&mut hub, network, &store).await?;
    hub.close().await?;
    modules.close().await?;
    let report = Report::new(&manifest, &writer.summary);
    let file = writer.finish()?;
    file.as_file().sync_all()?;
    file.persist_noclobber(out).map_err(|error| error.error).with_context(|| out.display().to_string())?;
    File::open(folder)?.sync_all()?;
    Ok(report)
}

struct Writer {
    tar: Builder<BufWriter<NamedTempFile>>,
    summary: Summary,
}

impl Writer {
    async fn table(&mut self, from: &mut Snapshot, network: NetworkId, table: &Table) -> anyhow::Result<()> {
        let (mut hasher, mut number, mut lines) = (PartHasher::default(), 0, Vec::new());
        from.for_each_row(table, network.0, |row| {
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

    fn chunk(&mut self, table: &Table, number: u32, hasher: &mut PartHasher, lines: &mut Vec<u8>) -> io::Result<()> {
        hasher.hash.update(&*lines);
        self.member(&chunk_name(table, number), lines.len() as u64, &**lines)?;
        lines.clear();
        // Frees the memory of a large row.
        lines.shrink_to(2 * CHUNK_SIZE);
        Ok(())
    }

    /// All files that rows name, in the order of the rows.
    async fn files(&mut self, from: &mut Snapshot, network: NetworkId, store: &FileStore) -> anyhow::Result<()> {
        let mut hasher = PartHasher::default();
        for table in TABLES.iter().filter(|table| NamedFile::are_in(table)) {
            from.for_each_row(table, network.0, |row| {
                let Some(file) = NamedFile::of(network, table, &row)? else { return Ok(()) };
                self.file(network, &file, store, &mut hasher).with_context(|| {
                    format!(
                        "the file of a row of {}; does a hub still change this network? suspend it first",
                        table.name
                    )
                })
            })
            .await?;
        }
        self.summary.files = hasher.part("files");
        Ok(())
    }

    fn file(
        &mut self,
        network: NetworkId,
        file: &NamedFile,
        store: &FileStore,
        hasher: &mut PartHasher,
    ) -> anyhow::Result<()> {
        let mut bytes = HashingReader::new(store.open_file(network, file)?);
        let member = file.member_name();
        self.member(&member, file.size, &mut bytes)?;
        let sha256 = bytes.sha256();
        ensure!(
            file.sha256.as_ref().is_none_or(|known| *known == sha256),
            "{member} has not the SHA-256 it should have"
        );
        hasher.count += 1;
        hasher.hash.update(format!("{member} {sha256}\n"));
        Ok(())
    }

    fn json(&mut self, member: &str, value: &impl serde::Serialize) -> anyhow::Result<()> {
        let mut text = serde_json::to_vec(value)?;
        text.push(b'\n');
        Ok(self.member(member, text.len() as u64, &*text)?)
    }

    /// Appends a member with nothing but its name, size and bytes, so that two exports of one network are alike.
    fn member(&mut self, name: &str, size: u64, bytes: impl Read) -> io::Result<()> {
        let mut header = Header::new_ustar();
        header.set_path(name)?;
        header.set_size(size);
        header.set_mode(0o600);
        header.set_mtime(0);
        header.set_entry_type(EntryType::Regular);
        header.set_cksum();
        self.tar.append(&header, bytes)
    }

    fn finish(mut self) -> anyhow::Result<NamedTempFile> {
        let summary = std::mem::take(&mut self.summary);
        self.json(SUMMARY, &summary)?;
        let mut buffered = self.tar.into_inner()?;
        buffered.flush()?;
        Ok(buffered.into_inner().map_err(io::IntoInnerError::into_error)?)
    }
}
