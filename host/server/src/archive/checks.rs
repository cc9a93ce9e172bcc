//! What the database itself would not refuse, but the hub relies on.

use std::collections::{HashMap, VecDeque};

use anyhow::{Context as _, ensure};
use hub_db::Table;
use sha2::{Digest as _, Sha256};

use crate::archive::disk::NamedFile;
use crate::archive::format::Manifest;
use crate::archive::tables::{Row, bytes, integer, text};
use crate::networks::service::OPERATOR_NETWORK;
use crate::networks::{Scope, Scopes};
use crate::values::{Identifier, NetworkId, hex};

/// Looks at all rows of a file as they come.
pub(super) struct Checks {
    network: NetworkId,
    name: String,
    networks: usize,
    /// What the bytes of each module must be.
    modules: HashMap<(String, i64), Sums>,
    /// The files that are to come.
    files: VecDeque<NamedFile>,
}

struct Sums {
    upload: String,
    component: Option<String>,
}

impl Checks {
    pub(super) fn new(manifest: &Manifest) -> Self {
        let (network, name) = (manifest.network, manifest.name.clone());
        Self { network, name, networks: 0, modules: HashMap::new(), files: VecDeque::new() }
    }

    pub(super) fn row(&mut self, table: &Table, row: &Row) -> anyhow::Result<()> {
        match table.name {
            "networks" => self.network(table, row)?,
            "api_keys" => self.key(table, row)?,
            "modules" => self.module(table, row)?,
            "module_code" => self.code(table, row)?,
            _ => self.files.extend(NamedFile::of(self.network, table, row)?),
        }
        Ok(())
    }

    pub(super) fn next_file(&mut self) -> Option<NamedFile> {
        self.files.pop_front()
    }

    pub(super) fn finish(&self) -> anyhow::Result<()> {
        ensure!(self.networks == 1, "it holds {} networks", self.networks);
        ensure!(self.modules.is_empty(), "modules in it have no bytes");
        ensure!(self.files.is_empty(), "files that rows name are not in it");
        Ok(())
    }

    fn network(&mut self, table: &Table, row: &Row) -> anyhow::Result<()> {
        let name = text(table, row, "name").context("the network has no name")?;
        ensure!(name == self.name, "the manifest is another network's");
        Identifier::try_from(name.to_owned()).map_err(|why| anyhow::anyhow!("the network's name {why}"))?;
        self.networks += 1;
        Ok(())
    }

    /// The operator's scope is nobody else's, whoever wrote the file.
    fn key(&self, table: &Table, row: &Row) -> anyhow::Result<()> {
        let scopes = Scopes::from_text(text(table, row, "scopes").unwrap_or_default());
        let operators = scopes.iter().any(|scope| scope == Scope::Operator);
        ensure!(
            !operators || self.network == OPERATOR_NETWORK,
            "a key has the scope `operator`, which is not a network's"
        );
        Ok(())
    }

    fn module(&mut self, table: &Table, row: &Row) -> anyhow::Result<()> {
        let version = text(table, row, "name").zip(integer(table, row, "version")).context("a module has no name")?;
        let upload = text(table, row, "sha256").context("a module has no SHA-256")?.to_owned();
        let component = text(table, row, "component_id").map(str::to_owned);
        self.modules.insert((version.0.to_owned(), version.1), Sums { upload, component });
        Ok(())
    }

    /// Compiled code is kept by these sums, for all networks together.
    fn code(&mut self, table: &Table, row: &Row) -> anyhow::Result<()> {
        let version = text(table, row, "name").zip(integer(table, row, "version"));
        let sums = version.and_then(|(name, version)| self.modules.remove(&(name.to_owned(), version)));
        let sums = sums.context("bytes of an unknown module")?;
        let upload = bytes(table, row, "upload").context("a module has no bytes")?;
        let of = |bytes: &[u8]| hex(&Sha256::digest(bytes));
        ensure!(of(upload) == sums.upload, "a module's bytes have not the SHA-256 they should have");
        let component = bytes(table, row, "component").unwrap_or(upload);
        let same = sums.component.is_none_or(|id| of(component) == id);
        ensure!(same, "a module's component has not the SHA-256 it should have");
        Ok(())
    }
}
