//! Restores a backup into an empty database.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use hub_db::{Backend, Cell, Db, WholeTable};

use crate::archive::backup::files::FileFinder;
use crate::archive::backup::format::{BackupReport, Manifest, read_lines};
use crate::archive::backup::read::{Contents, Discard, Sink, read};
use crate::archive::backup::store;
use crate::archive::files::{self, NamedFile};
use crate::archive::format::Summary;
use crate::archive::row::Row;
use crate::audit::{self, Action, Change};
use crate::auth::{OPERATOR_NETWORK, Origin};
use crate::blobs::{Blobs, mark_all_referenced};
use crate::clock::Clock;
use crate::component::{TableRule, Tables};
use crate::config::Settings;
use crate::ids::Ids;
use crate::values::NetworkId;

/// Stored instead of a number of parts once all were compared with the summary: later steps may change rows.
const VERIFIED: i64 = i64::MAX;

/// Refuses to run on a partially restored database.
pub async fn refuse_incomplete(db: &Db) -> anyhow::Result<()> {
    let unfinished = store::unfinished(db).await?;
    ensure!(
        unfinished.is_none(),
        "the database is partially restored; run `hub admin restore` again with the same file to continue"
    );
    Ok(())
}

/// Restores a backup, or resumes an interrupted restore; `finally` runs before the database is used.
pub async fn restore(
    settings: &Settings,
    db: &Db,
    module_store: &Db,
    tables: &Tables,
    ids: &Ids,
    from: &Path,
    finally: impl AsyncFnOnce(&Blobs) -> anyhow::Result<()>,
) -> anyhow::Result<BackupReport> {
    // Read twice: a damaged file is refused before anything is written.
    let Contents { manifest, .. } = read(from, tables, &mut Discard).await?;
    let done = begin(db, &manifest).await?;
    let blobs = Blobs::open(settings, db)?;
    let mut loader = Loader { db, module_store, ids, blobs, done, manifest, networks: BTreeSet::new() };
    let contents = read(from, tables, &mut loader).await?;
    module_store.flush().await?;
    loader.reference_files().await?;
    let Loader { blobs, manifest, .. } = loader;
    if done < VERIFIED {
        verify(db, module_store, tables, &contents.summary).await?;
        db.transaction(async |mut tx| store::advance(&mut tx, &manifest.backup_id, VERIFIED).await).await?;
    }
    for file in &contents.left_out {
        let blob = files::open(&blobs, file).await;
        blob.context("the backup contains no files, and some are missing in the blob store")?;
    }
    finally(&blobs).await?;
    let report = BackupReport::new(&manifest, &contents.summary);
    let origin = Origin::command_line(&Clock::System, ids);
    db.transaction(async |mut tx| {
        store::finish(&mut tx, &manifest.backup_id, origin.clock.now()).await?;
        let change = Change::new(Action::HubRestored, &manifest.backup_id).after(&report);
        audit::record(&mut tx, OPERATOR_NETWORK, &origin, change).await
    })
    .await?;
    Ok(report)
}

/// Number of parts restored so far. Fails if the database is not empty.
async fn begin(db: &Db, manifest: &Manifest) -> anyhow::Result<i64> {
    match store::unfinished(db).await? {
        Some((id, done)) if id == manifest.backup_id => return Ok(done),
        Some(_) => bail!("the database is partially restored from another backup; empty it first"),
        None => {}
    }
    ensure!(
        store::is_empty(db).await?,
        "the database already contains a hub; restore into an empty folder or database"
    );
    store::begin(db, &manifest.backup_id).await?;
    Ok(0)
}

struct Loader<'a> {
    db: &'a Db,
    module_store: &'a Db,
    ids: &'a Ids,
    blobs: Blobs,
    /// Number of parts restored by an earlier run.
    done: i64,
    manifest: Manifest,
    /// Networks with files.
    networks: BTreeSet<NetworkId>,
}

impl Sink for Loader<'_> {
    async fn begin(&mut self, manifest: &Manifest) -> anyhow::Result<()> {
        ensure!(*manifest == self.manifest, "the file was replaced during the restore");
        Ok(())
    }

    async fn rows(&mut self, part: i64, table: &WholeTable, rule: &TableRule, rows: Vec<Row>) -> anyhow::Result<()> {
        if part <= self.done {
            return Ok(());
        }
        self.refuse_nul(table, &rows)?;
        let is_elsewhere = rule.is_in_module_store && self.db.backend() == Backend::Sqlite;
        if is_elsewhere {
            self.module_store.transaction(async |mut tx| tx.insert_missing_rows(table, &rows).await).await?;
            self.module_store.flush().await?;
        }
        let backup = &self.manifest.backup_id;
        let inserted = self.db.transaction(async |mut tx| {
            if !is_elsewhere {
                tx.insert_missing_rows(table, &rows).await?;
            }
            store::advance(&mut tx, backup, part).await
        });
        Ok(inserted.await?)
    }

    async fn file(&mut self, part: i64, file: &NamedFile, bytes: &mut dyn Read) -> anyhow::Result<()> {
        self.networks.insert(file.key.network());
        if part > self.done {
            files::store(&self.blobs, self.ids, file, bytes).await?;
            let backup = &self.manifest.backup_id;
            self.db.transaction(async |mut tx| store::advance(&mut tx, backup, part).await).await?;
        }
        Ok(())
    }
}

impl Loader<'_> {
    async fn reference_files(&self) -> anyhow::Result<()> {
        // In turn: nothing else runs.
        for network in &self.networks {
            self.db.transaction(async |mut tx| mark_all_referenced(&mut tx, *network).await).await?;
        }
        Ok(())
    }

    /// PostgreSQL's texts can contain every character except U+0000.
    fn refuse_nul(&self, table: &WholeTable, rows: &[Row]) -> anyhow::Result<()> {
        let has_nul = |cell: &Cell| matches!(cell, Cell::Text(text) if text.contains('\0'));
        if self.db.backend() == Backend::Postgres
            && let Some(row) = rows.iter().find(|row| row.iter().any(has_nul))
        {
            bail!(
                "PostgreSQL cannot store U+0000, which occurs in the row {:?} of {}; restore into SQLite",
                &row[..table.key_columns.min(row.len())],
                table.name
            );
        }
        Ok(())
    }
}

/// Reads all tables back and compares them with the backup's summary.
async fn verify(db: &Db, module_store: &Db, tables: &Tables, expected: &Summary) -> anyhow::Result<()> {
    let (mut hub, mut modules) = (db.snapshot().await?, module_store.snapshot().await?);
    let mut finder = FileFinder::new(tables);
    for ((table, rule), expected) in tables.backed_up().iter().zip(&expected.tables) {
        let from = if rule.is_in_module_store { &mut modules } else { &mut hub };
        let prepare = |row: &mut _| finder.find(table, row).map(drop);
        let found = read_lines(from, table, prepare, |_| Ok(())).await?;
        ensure!(
            found == *expected,
            "{} differs: {} rows instead of {}; another process has written to this database, so empty it and restore \
             again",
            table.name,
            found.count,
            expected.count
        );
    }
    hub.close().await?;
    Ok(modules.close().await?)
}
