//! Reads a backup from start to end, at most one chunk of a table at a time.

use std::collections::VecDeque;
use std::io::Read;
use std::path::Path;

use anyhow::{Context as _, ensure};
use hub_db::WholeTable;

use crate::archive::backup::files::FileFinder;
use crate::archive::backup::format::{FORMAT, Manifest};
use crate::archive::files::NamedFile;
use crate::archive::format::{MANIFEST, PartHasher, SUMMARY, Summary, chunk_name, read_row};
use crate::archive::hashing::HashingReader;
use crate::archive::reader::{MAX_CHUNK, MAX_JSON, compare, ensure_zeros, members, next_member, open, read_all};
use crate::archive::row::Row;
use crate::component::{TableRule, Tables};

/// Receives the contents, with the number of the part. The file may still turn out to be damaged further on.
pub(super) trait Sink {
    async fn begin(&mut self, manifest: &Manifest) -> anyhow::Result<()>;
    async fn rows(&mut self, part: i64, table: &WholeTable, rule: &TableRule, rows: Vec<Row>) -> anyhow::Result<()>;
    async fn file(&mut self, part: i64, file: &NamedFile, bytes: &mut dyn Read) -> anyhow::Result<()>;
}

/// Discards the contents.
pub(super) struct Discard;

impl Sink for Discard {
    async fn begin(&mut self, _: &Manifest) -> anyhow::Result<()> {
        Ok(())
    }

    async fn rows(&mut self, _: i64, _: &WholeTable, _: &TableRule, _: Vec<Row>) -> anyhow::Result<()> {
        Ok(())
    }

    async fn file(&mut self, _: i64, _: &NamedFile, _: &mut dyn Read) -> anyhow::Result<()> {
        Ok(())
    }
}

/// Contents of a backup.
pub(super) struct Contents {
    pub(super) manifest: Manifest,
    pub(super) summary: Summary,
    /// Files that are not in the backup itself.
    pub(super) left_out: Vec<NamedFile>,
}

/// Reads the whole file and compares it with its summary.
pub(super) async fn read(path: &Path, tables: &Tables, sink: &mut impl Sink) -> anyhow::Result<Contents> {
    let mut archive = open(path)?;
    let mut members = members(&mut archive)?;
    let mut next = || next_member(&mut members);
    let (name, member) = next().context("this is not a backup")?;
    ensure!(name == MANIFEST, "this is not a backup: it does not begin with {MANIFEST}");
    let manifest = read_manifest(&read_all(member, MAX_JSON)?)?;
    sink.begin(&manifest).await?;
    let mut state = ReadState::new(tables, manifest.has_files);
    let summary: Summary = loop {
        let (name, member) = next()?;
        if name == SUMMARY {
            state.finish()?;
            break serde_json::from_slice(&read_all(member, MAX_JSON)?).context(SUMMARY)?;
        }
        let in_member = || format!("in {name}");
        state.parts += 1;
        if name.starts_with("tables/") {
            let rows = state.rows(&name, member).with_context(in_member)?;
            let (table, rule) = &state.tables[state.summary.tables.len()];
            sink.rows(state.parts, table, rule, rows).await.with_context(in_member)?;
        } else {
            let size = member.size();
            let file = state.file(&name, size).with_context(in_member)?;
            let mut bytes = HashingReader::new(member);
            sink.file(state.parts, &file, &mut bytes).await.with_context(in_member)?;
            std::io::copy(&mut bytes, &mut std::io::sink())?;
            ensure!(bytes.size == size, "{name} is truncated");
            let sha256 = bytes.sha256();
            let is_right = file.sha256.as_ref().is_none_or(|known| *known == sha256);
            ensure!(is_right, "{name} has a wrong SHA-256");
            state.hasher.add(format!("{name} {sha256}\n").as_bytes());
        }
    };
    compare(&summary, &state.summary)?;
    ensure!(members.next().is_none(), "it continues after its summary");
    ensure_zeros(archive.into_inner())?;
    Ok(Contents { manifest, summary, left_out: state.left_out })
}

struct ReadState<'a> {
    tables: Vec<(WholeTable, &'static TableRule)>,
    has_files: bool,
    finder: FileFinder<'a>,
    /// Files that must follow.
    files: VecDeque<NamedFile>,
    left_out: Vec<NamedFile>,
    /// Summary of the contents read so far.
    summary: Summary,
    /// Hashes the current table, or the files.
    hasher: PartHasher,
    /// Number of chunks of the current table.
    chunks: u32,
    parts: i64,
}

impl<'a> ReadState<'a> {
    fn new(tables: &'a Tables, has_files: bool) -> Self {
        Self {
            tables: tables.backed_up(),
            has_files,
            finder: FileFinder::new(tables),
            files: VecDeque::new(),
            left_out: vec![],
            summary: Summary::default(),
            hasher: PartHasher::default(),
            chunks: 0,
            parts: 0,
        }
    }

    fn end_table(&mut self) {
        let name = self.tables[self.summary.tables.len()].0.name;
        self.summary.tables.push(std::mem::take(&mut self.hasher).part(name));
        self.chunks = 0;
    }

    fn rows(&mut self, name: &str, member: impl Read) -> anyhow::Result<Vec<Row>> {
        while let Some((table, _)) = self.tables.get(self.summary.tables.len())
            && name != chunk_name(table.name, self.chunks + 1)
        {
            self.end_table();
        }
        let table = self.tables.get(self.summary.tables.len());
        let (table, _) = table.context("this part is unknown or misplaced")?;
        self.chunks += 1;
        let lines = read_all(member, MAX_CHUNK)?;
        let mut rows = vec![];
        for line in lines.strip_suffix(b"\n").context("it is truncated")?.split(|byte| *byte == b'\n') {
            let mut row = read_row(&table.columns, line).with_context(|| format!("row {}", self.hasher.count + 1))?;
            self.files.extend(self.finder.find(table, &mut row)?);
            self.hasher.count += 1;
            rows.push(row);
        }
        self.hasher.update(&lines);
        Ok(rows)
    }

    fn end_tables(&mut self) {
        while self.summary.tables.len() < self.tables.len() {
            self.end_table();
        }
    }

    fn file(&mut self, name: &str, size: u64) -> anyhow::Result<NamedFile> {
        self.end_tables();
        let file = self.files.pop_front().filter(|file| file.member_name == name);
        let file = file.context("no row references this file at this position")?;
        let expected = file.size.unwrap_or(size);
        ensure!(size == expected, "it has {size} bytes instead of {expected}");
        Ok(file)
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        self.end_tables();
        if self.has_files {
            ensure!(self.files.is_empty(), "files referenced by rows are missing");
        }
        for file in std::mem::take(&mut self.files) {
            self.hasher.add(format!("{}\n", file.key).as_bytes());
            self.left_out.push(file);
        }
        self.summary.files = std::mem::take(&mut self.hasher).part("files");
        Ok(())
    }
}

fn read_manifest(bytes: &[u8]) -> anyhow::Result<Manifest> {
    let manifest: Manifest = serde_json::from_slice(bytes).context("this is not a backup of a hub")?;
    let format = manifest.backup_format;
    ensure!(format == FORMAT, "the backup has format {format}, but this hub reads {FORMAT}");
    let (theirs, ours) = (manifest.schema, hub_db::schema_version());
    ensure!(
        theirs == ours,
        "another version of the hub made it (schema {theirs}, here {ours}): restore it with that version, and then start \
         this one"
    );
    Ok(manifest)
}
