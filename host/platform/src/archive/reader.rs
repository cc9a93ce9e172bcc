//! Reads the file from start to end. It is untrusted: everything is checked, and at most one chunk of a table is kept
//! in memory.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use hub_db::Table;
use serde::Deserialize;
use sha2::Digest as _;
use tar::{Archive, Entries, Entry, EntryType};

use crate::archive::checks::Checks;
use crate::archive::files::NamedFile;
use crate::archive::format::{FORMAT, MANIFEST, Manifest, Part, PartHasher, SUMMARY, Summary, chunk_name, read_row};
use crate::archive::hashing::HashingReader;
use crate::archive::progress::Counted;
use crate::archive::row::Row;
use crate::component::{NetworkTable, Tables};

/// Maximum size of the manifest and of the summary.
pub(super) const MAX_JSON: u64 = 64 * 1024;
/// Maximum size of a table's chunk. A row may contain a module of 64 MiB twice: uploaded and as component.
pub(super) const MAX_CHUNK: u64 = 256 * 1024 * 1024;

/// Receives the contents. The file may still turn out to be damaged further on.
pub(super) trait Sink {
    async fn rows(&mut self, table: &NetworkTable, rows: Vec<Row>) -> anyhow::Result<()>;
    async fn file(&mut self, file: &NamedFile, bytes: &mut dyn Read) -> anyhow::Result<()>;
}

/// Discards the contents.
pub(super) struct Discard;

impl Sink for Discard {
    async fn rows(&mut self, _: &NetworkTable, _: Vec<Row>) -> anyhow::Result<()> {
        Ok(())
    }

    async fn file(&mut self, _: &NamedFile, _: &mut dyn Read) -> anyhow::Result<()> {
        Ok(())
    }
}

/// Opens a tar.
pub(super) fn open(path: &Path) -> anyhow::Result<Archive<BufReader<Counted<File>>>> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    Ok(Archive::new(BufReader::with_capacity(1024 * 1024, Counted(file))))
}

/// Members of the tar, raw: long names and other extensions, unused by the format, would be read into memory.
pub(super) fn members<R: Read>(archive: &mut Archive<R>) -> anyhow::Result<Entries<'_, R>> {
    Ok(archive.entries()?.raw(true))
}

/// Next member and its name.
pub(super) fn next_member<'a, R: Read>(members: &mut Entries<'a, R>) -> anyhow::Result<(String, Entry<'a, R>)> {
    let Some(member) = members.next().transpose()? else { bail!("it ends before its summary") };
    ensure!(member.header().entry_type() == EntryType::Regular, "it contains an entry that is not a file");
    Ok((String::from_utf8(member.path_bytes().into_owned())?, member))
}

/// Reads the whole file. After an error, everything before it has gone to the sink.
pub(super) async fn read(path: &Path, tables: &Tables, sink: &mut impl Sink) -> anyhow::Result<(Manifest, Summary)> {
    let mut archive = open(path)?;
    let mut members = members(&mut archive)?;
    let mut next = || next_member(&mut members);

    let (name, member) = next().context("this is not an export of a network")?;
    ensure!(name == MANIFEST, "this is not an export of a network: it does not begin with {MANIFEST}");
    let manifest = read_manifest(&read_all(member, MAX_JSON)?)?;
    let mut state = ReadState {
        tables: tables.moved(),
        checks: Checks::new(&manifest),
        summary: Summary::default(),
        hasher: PartHasher::default(),
        chunks: 0,
    };
    loop {
        let (name, member) = next()?;
        if name == SUMMARY {
            state.begin_files();
            state.checks.finish()?;
            state.summary.files = std::mem::take(&mut state.hasher).part("files");
            let summary: Summary = serde_json::from_slice(&read_all(member, MAX_JSON)?).context(SUMMARY)?;
            compare(&summary, &state.summary)?;
            break;
        }
        let in_member = || format!("in {name}");
        if name.starts_with("tables/") {
            let (table, rows) = state.rows(&name, member).with_context(in_member)?;
            sink.rows(table, rows).await.with_context(in_member)?;
        } else {
            let size = member.size();
            let file = state.file(&name, size).with_context(in_member)?;
            let mut bytes = HashingReader::new(member);
            sink.file(&file, &mut bytes).await.with_context(in_member)?;
            state.finish_file(&file, size, bytes).with_context(in_member)?;
        }
    }
    ensure!(members.next().is_none(), "it continues after its summary");
    ensure_zeros(archive.into_inner())?;
    Ok((manifest, state.summary))
}

struct ReadState<'a> {
    tables: &'a [NetworkTable],
    checks: Checks,
    /// Summary of the contents read so far.
    summary: Summary,
    /// Hash of the current table, or of the files.
    hasher: PartHasher,
    /// Number of chunks of the current table.
    chunks: u32,
}

impl<'a> ReadState<'a> {
    /// Current table; none after the last.
    fn current_table(&self) -> Option<&'a NetworkTable> {
        self.tables.get(self.summary.tables.len())
    }

    fn end_table(&mut self, table: &Table) {
        self.summary.tables.push(std::mem::take(&mut self.hasher).part(table.name));
        self.chunks = 0;
    }

    /// Tables without rows have no chunks.
    fn begin_files(&mut self) {
        while let Some(table) = self.current_table() {
            self.end_table(table);
        }
    }

    fn rows(&mut self, name: &str, member: impl Read) -> anyhow::Result<(&'a NetworkTable, Vec<Row>)> {
        let table = loop {
            let Some(table) = self.current_table() else { bail!("this part is unknown or misplaced") };
            if name == chunk_name(table.name, self.chunks + 1) {
                break table;
            }
            self.end_table(table);
        };
        self.chunks += 1;
        let lines = read_all(member, MAX_CHUNK)?;
        self.hasher.hash.update(&lines);
        let lines = lines.strip_suffix(b"\n").context("it is truncated")?;
        let mut rows = vec![];
        for line in lines.split(|byte| *byte == b'\n') {
            let row = read_row(table.columns, line).with_context(|| format!("row {}", self.hasher.count + 1))?;
            self.checks.row(table, &row).with_context(|| format!("row {}", self.hasher.count + 1))?;
            self.hasher.count += 1;
            rows.push(row);
        }
        Ok((table, rows))
    }

    fn file(&mut self, name: &str, size: u64) -> anyhow::Result<NamedFile> {
        self.begin_files();
        let file = self
            .checks
            .next_file()
            .filter(|file| file.member_name == name)
            .context("no row references this file at this position")?;
        let expected = file.size.unwrap_or(size);
        ensure!(size == expected, "it has {size} bytes instead of {expected}");
        Ok(file)
    }

    /// Reads the rest of the file, after the sink, and checks all of it.
    fn finish_file(&mut self, file: &NamedFile, size: u64, mut bytes: HashingReader<impl Read>) -> anyhow::Result<()> {
        std::io::copy(&mut bytes, &mut std::io::sink())?;
        ensure!(bytes.size == size, "it is truncated");
        let sha256 = bytes.sha256();
        ensure!(file.sha256.as_ref().is_none_or(|known| *known == sha256), "it has a wrong SHA-256");
        self.hasher.count += 1;
        self.hasher.hash.update(format!("{} {sha256}\n", file.member_name));
        Ok(())
    }
}

pub(super) fn read_all(member: impl Read, limit: u64) -> anyhow::Result<Vec<u8>> {
    let mut bytes = vec![];
    member.take(limit + 1).read_to_end(&mut bytes)?;
    ensure!(bytes.len() as u64 <= limit, "a part is larger than {limit} bytes");
    Ok(bytes)
}

/// A tar ends with zeros. All are read, so that a process writing to a pipe does not fail.
pub(super) fn ensure_zeros(mut rest: impl Read) -> anyhow::Result<()> {
    let mut buffer = [0; 4096];
    loop {
        let read = rest.read(&mut buffer)?;
        if read == 0 {
            return Ok(());
        }
        ensure!(buffer[..read].iter().all(|byte| *byte == 0), "it continues after its summary");
    }
}

fn read_manifest(bytes: &[u8]) -> anyhow::Result<Manifest> {
    #[derive(Deserialize)]
    struct Versioned {
        format: u32,
    }

    let Versioned { format } = serde_json::from_slice(bytes).context(MANIFEST)?;
    ensure!(format <= FORMAT, "it has format {format} of a newer hub, which this hub does not support");
    ensure!(format == FORMAT, "it has format {format}, but this hub reads {FORMAT}");
    let manifest: Manifest = serde_json::from_slice(bytes).context(MANIFEST)?;
    let (theirs, ours) = (manifest.schema, hub_db::schema_version());
    ensure!(
        theirs >= ours,
        "an older hub wrote it (schema {theirs}, here {ours}); export it again with this version of the hub"
    );
    ensure!(
        theirs == ours,
        "a newer hub wrote it (schema {theirs}, here {ours}); import it with that version of the hub"
    );
    Ok(manifest)
}

pub(super) fn compare(expected: &Summary, found: &Summary) -> anyhow::Result<()> {
    let all = |summary: &Summary| summary.tables.iter().chain([&summary.files]).cloned().collect::<Vec<Part>>();
    let (expected, found) = (all(expected), all(found));
    ensure!(expected.len() == found.len(), "it is damaged: its summary lists other parts");
    for (expected, found) in expected.iter().zip(&found) {
        ensure!(expected == found, "it is damaged: {} does not match the summary", found.name);
    }
    Ok(())
}
