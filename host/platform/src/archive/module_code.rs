//! Compares modules' bytes with the SHA-256 in the modules' rows: compiled code is cached by these hashes.

use std::collections::{HashMap, HashSet};

use anyhow::{Context as _, ensure};
use hub_db::Table;
use sha2::{Digest as _, Sha256};

use crate::archive::files::{ModuleHashes, ModuleVersion, NamedFile, version};
use crate::archive::row::{Row, bytes, text};
use crate::values::{NetworkId, hex};

/// Checks the rows of modules, then of their bytes.
#[derive(Default)]
pub(super) struct ModuleCode {
    /// Every module, with its expected hashes until its bytes were seen.
    modules: HashMap<ModuleVersion, Option<ModuleHashes>>,
    /// Rejected modules, which need no bytes.
    rejected: HashSet<ModuleVersion>,
}

impl ModuleCode {
    pub(super) fn module(&mut self, table: &Table, row: &Row) -> anyhow::Result<()> {
        let (version, hashes) = ModuleHashes::of(table, row)?;
        if text(table, row, "state") == Some("REJECTED") {
            self.rejected.insert(version.clone());
        }
        self.modules.insert(version, Some(hashes));
        Ok(())
    }

    /// Returns the files with bytes that are not in the row.
    pub(super) fn code(&mut self, network: NetworkId, table: &Table, row: &Row) -> anyhow::Result<Vec<NamedFile>> {
        let version = version(table, row).context("bytes of an unknown module")?;
        let expected = self.modules.get_mut(&version).and_then(Option::take).context("bytes of an unknown module")?;
        let files = expected.files(network, &version, table, row)?;
        check(bytes(table, row, "upload").unwrap_or_default(), &expected.upload)?;
        match (bytes(table, row, "component"), &expected.component) {
            (Some(component), Some(id)) => check(component, id)?,
            (Some(_), None) => anyhow::bail!("a module's component has no SHA-256"),
            (None, Some(id)) => {
                ensure!(*id == expected.upload, "a module's component has a wrong SHA-256");
            }
            (None, None) => {}
        }
        Ok(files)
    }

    pub(super) fn finish(&self) -> anyhow::Result<()> {
        let has_bytes = |(version, missing): (&ModuleVersion, &Option<ModuleHashes>)| {
            missing.is_none() || self.rejected.contains(version)
        };
        ensure!(self.modules.iter().all(has_bytes), "modules without bytes");
        Ok(())
    }
}

/// Accepts empty bytes: they are in a file, which is checked later.
fn check(bytes: &[u8], sha256: &str) -> anyhow::Result<()> {
    let is_right = bytes.is_empty() || hex(&Sha256::digest(bytes)) == sha256;
    ensure!(is_right, "a module's bytes have a wrong SHA-256");
    Ok(())
}
