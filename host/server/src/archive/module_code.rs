//! Checks that modules' bytes have the SHA-256 of the modules' rows: compiled code is cached by these hashes, for all
//! networks together.

use std::collections::HashMap;

use anyhow::{Context as _, ensure};
use hub_db::Table;
use sha2::{Digest as _, Sha256};

use crate::archive::tables::{Row, bytes, integer, text};
use crate::values::hex;

const UPLOAD: &str = "UPLOAD";
const COMPONENT: &str = "COMPONENT";

/// A module's name and version.
type Version = (String, i64);

/// Checks the rows of modules, of their bytes and of their bytes' chunks, in that order.
#[derive(Default)]
pub(super) struct ModuleCode {
    /// Every module, with its expected hashes until its bytes were seen.
    modules: HashMap<Version, Option<Hashes>>,
    /// The expected hashes of parts that must follow in chunks.
    chunked: HashMap<(Version, String), String>,
    /// The part whose chunks are being read.
    open: Option<OpenPart>,
}

struct Hashes {
    upload: String,
    component: Option<String>,
}

struct OpenPart {
    part: (Version, String),
    sha256: String,
    next_chunk: i64,
    hash: Sha256,
}

impl ModuleCode {
    pub(super) fn module(&mut self, table: &Table, row: &Row) -> anyhow::Result<()> {
        let version = version(table, row).context("a module has no name")?;
        let upload = text(table, row, "sha256").context("a module has no SHA-256")?.to_owned();
        let component = text(table, row, "component_id").map(str::to_owned);
        self.modules.insert(version, Some(Hashes { upload, component }));
        Ok(())
    }

    pub(super) fn code(&mut self, table: &Table, row: &Row) -> anyhow::Result<()> {
        let version = version(table, row).context("bytes of an unknown module")?;
        let expected = self.modules.get_mut(&version).and_then(Option::take).context("bytes of an unknown module")?;
        let upload = bytes(table, row, "upload").context("a module has no bytes")?;
        self.part(&version, UPLOAD, upload, &expected.upload)?;
        match (bytes(table, row, "component"), expected.component) {
            (Some(component), Some(id)) => self.part(&version, COMPONENT, component, &id)?,
            (Some(_), None) => anyhow::bail!("a module's component has no SHA-256"),
            (None, Some(id)) => {
                ensure!(id == expected.upload, "a module's component has not the SHA-256 it should have");
            }
            (None, None) => {}
        }
        Ok(())
    }

    /// No bytes mean that they follow in chunks.
    fn part(&mut self, version: &Version, part: &str, bytes: &[u8], sha256: &str) -> anyhow::Result<()> {
        if bytes.is_empty() {
            self.chunked.insert((version.clone(), part.to_owned()), sha256.to_owned());
            return Ok(());
        }
        check(Sha256::digest(bytes).as_slice(), sha256)
    }

    pub(super) fn chunk(&mut self, table: &Table, row: &Row) -> anyhow::Result<()> {
        let version = version(table, row).context("a piece of an unknown module")?;
        if !self.modules.contains_key(&version) {
            // Of an upload that never became a version. The hub deletes it.
            return Ok(());
        }
        let part = text(table, row, "part").context("a piece of nothing")?;
        let number = integer(table, row, "piece").context("a piece has no number")?;
        let bytes = bytes(table, row, "bytes").context("a piece has no bytes")?;
        let part = (version, part.to_owned());
        if self.open.as_ref().is_none_or(|open| open.part != part) {
            self.finish_part()?;
            let sha256 = self.chunked.remove(&part).context("pieces of a module that has its bytes")?;
            self.open = Some(OpenPart { part, sha256, next_chunk: 0, hash: Sha256::new() });
        }
        let open = self.open.as_mut().context("a piece of nothing")?;
        ensure!(number == open.next_chunk, "a module's pieces are not in their order");
        open.next_chunk += 1;
        open.hash.update(bytes);
        Ok(())
    }

    fn finish_part(&mut self) -> anyhow::Result<()> {
        self.open.take().map_or(Ok(()), |open| check(open.hash.finalize().as_slice(), &open.sha256))
    }

    pub(super) fn finish(&mut self) -> anyhow::Result<()> {
        self.finish_part()?;
        let is_complete = self.modules.values().all(Option::is_none) && self.chunked.is_empty();
        ensure!(is_complete, "modules in it have no bytes");
        Ok(())
    }
}

fn version(table: &Table, row: &Row) -> Option<Version> {
    text(table, row, "name").map(str::to_owned).zip(integer(table, row, "version"))
}

fn check(digest: &[u8], sha256: &str) -> anyhow::Result<()> {
    ensure!(hex(digest) == sha256, "a module's bytes have not the SHA-256 they should have");
    Ok(())
}
