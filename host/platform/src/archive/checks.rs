//! Checks of rows beyond those of the database.

use std::collections::VecDeque;

use anyhow::{Context as _, ensure};
use hub_db::Table;

use crate::archive::files::NamedFile;
use crate::archive::format::Manifest;
use crate::archive::module_code::ModuleCode;
use crate::archive::row::{Row, text};
use crate::auth::{OPERATOR_NETWORK, Scope, Scopes};
use crate::component::NetworkTable;
use crate::values::{Identifier, NetworkId};

/// Checks all rows of a file in order.
pub(super) struct Checks {
    network: NetworkId,
    name: String,
    networks: usize,
    modules: ModuleCode,
    /// Files that must follow.
    files: VecDeque<NamedFile>,
}

impl Checks {
    pub(super) fn new(manifest: &Manifest) -> Self {
        let (network, name) = (manifest.network, manifest.name.clone());
        Self { network, name, networks: 0, modules: ModuleCode::default(), files: VecDeque::new() }
    }

    pub(super) fn row(&mut self, table: &NetworkTable, row: &Row) -> anyhow::Result<()> {
        table.read(row).map_err(anyhow::Error::msg)?;
        match table.name {
            "networks" => self.network(table, row)?,
            "api_keys" => self.key(table, row)?,
            "modules" => self.modules.module(table, row)?,
            "module_code" => self.files.extend(self.modules.code(self.network, table, row)?),
            _ => self.files.extend(NamedFile::of(self.network, table, row)?),
        }
        Ok(())
    }

    pub(super) fn next_file(&mut self) -> Option<NamedFile> {
        self.files.pop_front()
    }

    pub(super) fn finish(&mut self) -> anyhow::Result<()> {
        ensure!(self.networks == 1, "it contains {} networks", self.networks);
        self.modules.finish()?;
        ensure!(self.files.is_empty(), "files referenced by rows are missing");
        Ok(())
    }

    fn network(&mut self, table: &Table, row: &Row) -> anyhow::Result<()> {
        let name = text(table, row, "name").context("the network has no name")?;
        ensure!(name == self.name, "the manifest belongs to another network");
        Identifier::try_from(name.to_owned()).map_err(|why| anyhow::anyhow!("the network's name {why}"))?;
        self.networks += 1;
        Ok(())
    }

    /// Only keys of the operator's network may have the operator's scope.
    fn key(&self, table: &Table, row: &Row) -> anyhow::Result<()> {
        let scopes = Scopes::from_text(text(table, row, "scopes").unwrap_or_default());
        let is_operators = scopes.iter().any(|scope| scope == Scope::Operator);
        ensure!(
            !is_operators || self.network == OPERATOR_NETWORK,
            "a key has the scope `operator`, which networks cannot have"
        );
        Ok(())
    }
}
