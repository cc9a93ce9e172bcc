//! Imports a network from a file into the database.
//!
//! Rows are inserted in many transactions, so that a hub running on the same database can still write. The row in
//! `networks` comes last: until then no key of the network is found. A failed import deletes its rows; those of a
//! killed import are deleted by the network's next import.

use std::io::Read;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use hub_db::{Backend, Cell, Db, Table};
use thiserror::Error;

use crate::archive::files::{self, NamedFile};
use crate::archive::format::{FORMAT, Manifest, Report};
use crate::archive::reader::{self, Discard, Sink};
use crate::archive::row::Row;
use crate::archive::store;
use crate::audit::{self, Action, Change};
use crate::auth::{OPERATOR_NETWORK, Origin};
use crate::blobs::{BlobKey, Blobs, mark_all_referenced};
use crate::clock::Clock;
use crate::component::{NetworkTable, Tables, seal_row};
use crate::config::Settings;
use crate::ids::Ids;
use crate::secrets::{SealingKey, key_of_database};
use crate::values::NetworkId;

/// Number of rows deleted per transaction.
const DELETE_LIMIT: usize = 5_000;
const TOKEN_LENGTH: usize = 24;

/// Choices of the operator who imports a network.
#[derive(Clone, Copy, Debug)]
pub struct ImportOptions<'a> {
    pub from: &'a Path,
    /// Plan of the network, whatever the file says.
    pub plan: &'a str,
    /// Allows the operator's own network.
    pub allow_operator: bool,
}

/// Imports a network from a file.
pub async fn import(
    settings: &Settings,
    db: &Db,
    module_store: &Db,
    tables: &Tables,
    ids: &Ids,
    options: ImportOptions<'_>,
) -> anyhow::Result<Report> {
    let ImportOptions { from, plan, allow_operator } = options;
    // Read twice: a damaged file is refused before anything is written.
    let (manifest, summary) = reader::read(from, tables, &mut Discard).await?;
    ensure!(
        allow_operator || manifest.network != OPERATOR_NETWORK,
        "the file contains operator keys, which would give their holder full access; if you trust it, pass --operator"
    );
    let token = ids.token(TOKEN_LENGTH);
    let blobs = Blobs::open(settings, db)?;
    let plan = plan.to_owned();
    let key = key_of_database(settings, db).await?;
    let mut loader =
        Loader { db, module_store, tables, ids, manifest, plan, token, blobs, key, network_row: None, stored: vec![] };
    check_plan(db, &loader.plan).await?;
    loader.refuse_existing().await?;
    store::claim(db, loader.manifest.network, &loader.token).await?;
    if let Err(error) = loader.load(from).await {
        if let Err(error) = loader.roll_back().await {
            eprintln!("could not delete the partially imported rows: {error:#}; another import deletes them");
        }
        return Err(error);
    }
    Ok(Report::new(&loader.manifest, &summary))
}

/// Fails if no network can be imported on this plan.
pub async fn check_plan(db: &Db, plan: &str) -> anyhow::Result<()> {
    ensure!(store::has_plan(db, plan).await?, "the hub has no plan `{plan}`");
    Ok(())
}

/// Deletes the rows of a network that was imported and is none any more.
pub async fn discard(
    settings: &Settings,
    db: &Db,
    module_store: &Db,
    tables: &Tables,
    ids: &Ids,
    network: NetworkId,
) -> anyhow::Result<()> {
    let manifest = Manifest { format: FORMAT, schema: hub_db::schema_version(), network, name: String::new() };
    let (token, plan) = (ids.token(TOKEN_LENGTH), String::new());
    let blobs = Blobs::open(settings, db)?;
    let key = key_of_database(settings, db).await?;
    let loader =
        Loader { db, module_store, tables, ids, manifest, plan, token, blobs, key, network_row: None, stored: vec![] };
    store::claim(db, network, &loader.token).await?;
    loader.roll_back().await
}

/// Reason for a failed transaction of the import.
#[derive(Debug, Error)]
enum ImportError {
    #[error("the network was created or is being imported by another process")]
    TakenOver,
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

struct Loader<'a> {
    db: &'a Db,
    module_store: &'a Db,
    tables: &'a Tables,
    ids: &'a Ids,
    manifest: Manifest,
    plan: String,
    token: String,
    blobs: Blobs,
    key: SealingKey,
    /// Row of the network itself, which is inserted last.
    network_row: Option<Row>,
    /// Blobs that did not exist before.
    stored: Vec<BlobKey>,
}

impl Sink for Loader<'_> {
    async fn rows(&mut self, table: &NetworkTable, mut rows: Vec<Row>) -> anyhow::Result<()> {
        self.refuse_nul(table, &rows)?;
        for row in &mut rows {
            seal_row(&self.key, table, self.manifest.network, row)?;
        }
        if table.name == self.tables.networks().name {
            self.network_row = rows.into_iter().next();
            return Ok(());
        }
        let inserted = if table.rule.is_in_module_store && self.db.backend() == Backend::Sqlite {
            self.insert_into_module_store(table, &rows).await
        } else {
            self.insert(table, &rows).await
        };
        match inserted {
            Err(ImportError::Database(error)) if error.is_unique_violation() => {
                Err(anyhow::Error::from(error).context("a row already exists, of this network or another"))
            }
            Err(ImportError::Database(error)) if error.is_check_violation() => {
                let row = self.first_refused(table, &rows).await;
                let shown = row
                    .map_or_else(String::new, |row| format!(" in the row {:?} of {}", table.key_of(row), table.name));
                Err(anyhow::Error::from(error).context(format!("a value that this hub does not know{shown}")))
            }
            inserted => Ok(inserted?),
        }
    }

    async fn file(&mut self, file: &NamedFile, bytes: &mut dyn Read) -> anyhow::Result<()> {
        if files::store(&self.blobs, self.ids, file, bytes).await? {
            self.stored.push(file.key.clone());
        }
        Ok(())
    }
}

impl Loader<'_> {
    async fn refuse_existing(&self) -> anyhow::Result<()> {
        let Manifest { network, name, .. } = &self.manifest;
        match store::find_network(self.db, *network, name).await? {
            Some((id, _)) if id == *network => bail!("the network {network} already exists"),
            Some((id, _)) => bail!("another network, {id}, already has the name `{name}`"),
            None => Ok(()),
        }
    }

    async fn load(&mut self, from: &Path) -> anyhow::Result<()> {
        self.remove_rows().await?;
        let tables = self.tables;
        let (manifest, _) = reader::read(from, tables, self).await?;
        ensure!(manifest == self.manifest, "the file was replaced during the import");
        self.module_store.flush().await?;
        self.publish().await
    }

    /// The row for which the database refused all of them; those before it are deleted with the failed import.
    async fn first_refused<'r>(&self, table: &Table, rows: &'r [Row]) -> Option<&'r Row> {
        for row in rows {
            if self.insert(table, std::slice::from_ref(row)).await.is_err() {
                return Some(row);
            }
        }
        None
    }

    async fn insert(&self, table: &Table, rows: &[Row]) -> Result<(), ImportError> {
        let network = self.manifest.network;
        self.db
            .transaction(async |mut tx| {
                if !store::lock_claim(&mut tx, network, &self.token).await? {
                    return Err(ImportError::TakenOver);
                }
                Ok(tx.insert_rows(table, network.0, rows).await?)
            })
            .await
    }

    /// On SQLite the module store is a separate file, outside the database's transactions.
    async fn insert_into_module_store(&self, table: &Table, rows: &[Row]) -> Result<(), ImportError> {
        self.check_claim().await?;
        let network = self.manifest.network;
        let inserted = self.module_store.transaction(async |mut tx| tx.insert_rows(table, network.0, rows).await);
        Ok(inserted.await?)
    }

    async fn check_claim(&self) -> Result<(), ImportError> {
        let is_held =
            self.db.transaction(async |mut tx| store::lock_claim(&mut tx, self.manifest.network, &self.token).await);
        if is_held.await? { Ok(()) } else { Err(ImportError::TakenOver) }
    }

    /// Turns the imported rows into a network and marks its blobs referenced.
    async fn publish(&mut self) -> anyhow::Result<()> {
        let row = self.network_row.take().context("it holds no network")?;
        let (network, networks) = (self.manifest.network, self.tables.networks());
        let published = self
            .db
            .transaction(async |mut tx| {
                if !store::lock_claim(&mut tx, network, &self.token).await? {
                    return Err(ImportError::TakenOver);
                }
                store::release(&mut tx, network).await?;
                mark_all_referenced(&mut tx, network).await?;
                tx.insert_rows(networks, network.0, std::slice::from_ref(&row)).await?;
                // Only in the operator's log: the network's own log moves unchanged.
                let origin = Origin::command_line(&Clock::System, self.ids);
                let change = Change::new(Action::NetworkImported, network);
                audit::record(&mut tx, OPERATOR_NETWORK, &origin, change).await?;
                // The operator's choice, not that of the file's author.
                Ok(store::set_plan(&mut tx, network, &self.plan).await?)
            })
            .await;
        Ok(published?)
    }

    /// Deletes the rows of a failed or killed import.
    async fn remove_rows(&self) -> Result<(), ImportError> {
        let network = self.manifest.network;
        for table in self.tables.moved().iter().filter(|table| table.name != self.tables.networks().name) {
            if table.rule.is_in_module_store && self.db.backend() == Backend::Sqlite {
                self.check_claim().await?;
                let no_limit = usize::MAX >> 1;
                let deleted =
                    self.module_store.transaction(async |mut tx| tx.delete_rows(table, network.0, no_limit).await);
                deleted.await?;
                continue;
            }
            loop {
                let deleted = self.db.transaction(async |mut tx| {
                    if !store::lock_claim(&mut tx, network, &self.token).await? {
                        return Err(ImportError::TakenOver);
                    }
                    Ok(tx.delete_rows(table, network.0, DELETE_LIMIT).await?)
                });
                if deleted.await? < DELETE_LIMIT as u64 {
                    break;
                }
            }
        }
        Ok(())
    }

    async fn roll_back(&self) -> anyhow::Result<()> {
        let network = self.manifest.network;
        match self.remove_rows().await {
            // The rows and blobs now belong to the other import.
            Err(ImportError::TakenOver) => return Ok(()),
            removed => removed?,
        }
        self.blobs.delete_unreferenced(&self.stored).await;
        let released = self.db.transaction(async |mut tx| {
            if store::lock_claim(&mut tx, network, &self.token).await? {
                store::release(&mut tx, network).await?;
            }
            Ok::<_, hub_db::Error>(())
        });
        Ok(released.await?)
    }

    /// PostgreSQL's texts can contain every character except U+0000.
    fn refuse_nul(&self, table: &Table, rows: &[Row]) -> anyhow::Result<()> {
        if self.db.backend() != Backend::Postgres {
            return Ok(());
        }
        let has_nul = |cell: &Cell| matches!(cell, Cell::Text(text) if text.contains('\0'));
        for row in rows {
            if let Some(index) = row.iter().position(has_nul) {
                let column = table.columns.get(index).map_or("", |column| column.name);
                let key = table.key_of(row);
                bail!("PostgreSQL cannot store U+0000, which occurs in {}.{column} of the row {key:?}", table.name);
            }
        }
        Ok(())
    }
}
