//! Modules' bytes must have the sums that the modules' rows say: compiled code is kept by these sums, for all networks
//! together.

use std::collections::HashMap;

use anyhow::{Context as _, ensure};
use hub_db::Table;
use sha2::{Digest as _, Sha256};

use crate::archive::files::{ModuleSums, NamedFile, Version, version};
use crate::archive::tables::{Row, bytes};
use crate::values::{NetworkId, hex};

/// Looks at the rows of modules and of their bytes, in that order.
#[derive(Default)]
pub(super) struct ModuleCode {
    /// Every module, and what its bytes must be until they were seen.
    modules: HashMap<Version, Option<ModuleSums>>,
}

impl ModuleCode {
    pub(super) fn module(&mut self, table: &Table, row: &Row) -> anyhow::Result<()> {
        let (version, sums) = ModuleSums::of(table, row)?;
        self.modules.insert(version, Some(sums));
        Ok(())
    }

    /// The files that hold what the row does not.
    pub(super) fn code(&mut self, network: NetworkId, table: &Table, row: &Row) -> anyhow::Result<Vec<NamedFile>> {
        let version = version(table, row).context("bytes of an unknown module")?;
        let sums = self.modules.get_mut(&version).and_then(Option::take).context("bytes of an unknown module")?;
        let files = sums.files(network, &version, table, row)?;
        check(bytes(table, row, "upload").unwrap_or_default(), &sums.upload)?;
        match (bytes(table, row, "component"), &sums.component) {
            (Some(component), Some(id)) => check(component, id)?,
            (Some(_), None) => anyhow::bail!("a module's component has no SHA-256"),
            (None, Some(id)) => {
                ensure!(*id == sums.upload, "a module's component has not the SHA-256 it should have");
            }
            (None, None) => {}
        }
        Ok(files)
    }

    pub(super) fn finish(&self) -> anyhow::Result<()> {
        ensure!(self.modules.values().all(Option::is_none), "modules in it have no bytes");
        Ok(())
    }
}

/// Nothing stands for bytes that are in a file.
fn check(bytes: &[u8], sum: &str) -> anyhow::Result<()> {
    let is_right = bytes.is_empty() || hex(&Sha256::digest(bytes)) == sum;
    ensure!(is_right, "a module's bytes have not the SHA-256 they should have");
    Ok(())
}
