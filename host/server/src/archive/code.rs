//! Modules' bytes must have the sums that the modules' rows say: compiled code is kept by these sums, for all networks
//! together.

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

/// Looks at the rows of modules, of their bytes and of their bytes' pieces, in that order.
#[derive(Default)]
pub(super) struct Code {
    /// Every module, and what its bytes must be until they were seen.
    modules: HashMap<Version, Option<Sums>>,
    /// What is still to come in pieces, by version and part.
    pieces: HashMap<(Version, String), String>,
    /// The part whose pieces come now.
    part: Option<Open>,
}

struct Sums {
    upload: String,
    component: Option<String>,
}

struct Open {
    part: (Version, String),
    sum: String,
    next: i64,
    so_far: Sha256,
}

impl Code {
    pub(super) fn module(&mut self, table: &Table, row: &Row) -> anyhow::Result<()> {
        let version = version(table, row).context("a module has no name")?;
        let upload = text(table, row, "sha256").context("a module has no SHA-256")?.to_owned();
        let component = text(table, row, "component_id").map(str::to_owned);
        self.modules.insert(version, Some(Sums { upload, component }));
        Ok(())
    }

    pub(super) fn code(&mut self, table: &Table, row: &Row) -> anyhow::Result<()> {
        let version = version(table, row).context("bytes of an unknown module")?;
        let sums = self.modules.get_mut(&version).and_then(Option::take).context("bytes of an unknown module")?;
        let upload = bytes(table, row, "upload").context("a module has no bytes")?;
        self.part_of(&version, UPLOAD, upload, &sums.upload)?;
        match (bytes(table, row, "component"), sums.component) {
            (Some(component), Some(id)) => self.part_of(&version, COMPONENT, component, &id)?,
            (Some(_), None) => anyhow::bail!("a module's component has no SHA-256"),
            (None, Some(id)) => ensure!(id == sums.upload, "a module's component has not the SHA-256 it should have"),
            (None, None) => {}
        }
        Ok(())
    }

    /// Nothing stands for bytes that come in pieces.
    fn part_of(&mut self, version: &Version, part: &str, bytes: &[u8], sum: &str) -> anyhow::Result<()> {
        if bytes.is_empty() {
            self.pieces.insert((version.clone(), part.to_owned()), sum.to_owned());
            return Ok(());
        }
        check(Sha256::digest(bytes).as_slice(), sum)
    }

    pub(super) fn piece(&mut self, table: &Table, row: &Row) -> anyhow::Result<()> {
        let version = version(table, row).context("a piece of an unknown module")?;
        if !self.modules.contains_key(&version) {
            // Of an upload that never became a version. The hub sweeps it away.
            return Ok(());
        }
        let part = text(table, row, "part").context("a piece of nothing")?;
        let piece = integer(table, row, "piece").context("a piece has no number")?;
        let bytes = bytes(table, row, "bytes").context("a piece has no bytes")?;
        let part = (version, part.to_owned());
        if self.part.as_ref().is_none_or(|open| open.part != part) {
            self.close()?;
            let sum = self.pieces.remove(&part).context("pieces of a module that has its bytes")?;
            self.part = Some(Open { part, sum, next: 0, so_far: Sha256::new() });
        }
        let open = self.part.as_mut().context("a piece of nothing")?;
        ensure!(piece == open.next, "a module's pieces are not in their order");
        open.next += 1;
        open.so_far.update(bytes);
        Ok(())
    }

    fn close(&mut self) -> anyhow::Result<()> {
        self.part.take().map_or(Ok(()), |open| check(open.so_far.finalize().as_slice(), &open.sum))
    }

    pub(super) fn finish(&mut self) -> anyhow::Result<()> {
        self.close()?;
        let all = self.modules.values().all(Option::is_none) && self.pieces.is_empty();
        ensure!(all, "modules in it have no bytes");
        Ok(())
    }
}

fn version(table: &Table, row: &Row) -> Option<Version> {
    text(table, row, "name").map(str::to_owned).zip(integer(table, row, "version"))
}

fn check(digest: &[u8], sum: &str) -> anyhow::Result<()> {
    ensure!(hex(digest) == sum, "a module's bytes have not the SHA-256 they should have");
    Ok(())
}
