//! Files referenced by rows.

use std::collections::HashMap;

use anyhow::Context as _;
use hub_db::{Cell, Table, WholeTable};

use crate::archive::files::{ModuleHashes, ModuleVersion, NamedFile, version};
use crate::archive::row::Row;
use crate::component::Tables;
use crate::values::NetworkId;

/// Finds files in rows, which arrive in the order of the backup.
pub(super) struct FileFinder<'a> {
    tables: &'a Tables,
    modules: HashMap<(NetworkId, ModuleVersion), ModuleHashes>,
}

impl<'a> FileFinder<'a> {
    pub(super) fn new(tables: &'a Tables) -> Self {
        Self { tables, modules: HashMap::new() }
    }

    /// The files that a row names.
    pub(super) fn find(&mut self, table: &WholeTable, row: &mut Row) -> anyhow::Result<Vec<NamedFile>> {
        if !matches!(table.name, "modules" | "module_code" | "artifacts" | "provisioning_bundles" | "world_blobs") {
            return Ok(vec![]);
        }
        let of_network: &Table = self.tables.find(table.name).context("a table of files is not a network's")?;
        let Some(Cell::Uuid(network)) = row.first() else { anyhow::bail!("a row of {} has no network", table.name) };
        let network = NetworkId(*network);
        let mut cells: Row = row.split_off(1);
        let files = match table.name {
            "modules" => {
                let (version, hashes) = ModuleHashes::of(of_network, &cells)?;
                self.modules.insert((network, version), hashes);
                Ok(vec![])
            }
            "module_code" => {
                let version = version(of_network, &cells).context("a module has no name")?;
                let hashes = self.modules.get(&(network, version.clone())).context("bytes of an unknown module")?;
                hashes.files(network, &version, of_network, &cells)
            }
            _ => NamedFile::of(network, of_network, &cells).map(|file| file.into_iter().collect()),
        };
        row.append(&mut cells);
        Ok(files?.into_iter().map(|file| in_network(network, file)).collect())
    }
}

/// File under a name that is unique across networks.
fn in_network(network: NetworkId, file: NamedFile) -> NamedFile {
    let rest = file.member_name.strip_prefix("files/").unwrap_or(&file.member_name);
    NamedFile { member_name: format!("files/{network}/{rest}"), ..file }
}
