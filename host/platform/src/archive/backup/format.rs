//! The contents of the backup's members.

use hub_db::{Snapshot, WholeTable};
use serde::{Deserialize, Serialize};

use crate::archive::format::{Part, PartHasher, Summary, write_row};
use crate::archive::row::Row;
use crate::clock::Millis;

/// The only format that this hub writes and reads.
pub(super) const FORMAT: u32 = 1;

/// Kind and version of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Manifest {
    /// Format of the backup; absent in a network's archive.
    pub(super) backup_format: u32,
    pub(super) schema: i64,
    pub(super) backup_id: String,
    pub(super) made_at: Millis,
    /// True if the blobs are in the file; otherwise they stay in their own store.
    pub(super) has_files: bool,
}

/// Contents that were backed up or restored.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupReport {
    pub backup_id: String,
    pub made_at: Millis,
    pub rows: u64,
    pub files: u64,
    /// True if the backup contains the files' bytes.
    pub has_files: bool,
}

impl BackupReport {
    pub(super) fn new(manifest: &Manifest, summary: &Summary) -> Self {
        Self {
            backup_id: manifest.backup_id.clone(),
            made_at: manifest.made_at,
            rows: summary.tables.iter().map(|table| table.count).sum(),
            files: summary.files.count,
            has_files: manifest.has_files,
        }
    }
}

/// Passes each row of a table, after `prepare`, as a line and returns the table's entry for the summary.
pub(super) async fn read_lines(
    from: &mut Snapshot,
    table: &WholeTable,
    mut prepare: impl FnMut(&mut Row) -> anyhow::Result<()> + Send,
    mut receive: impl FnMut(&[u8]) -> anyhow::Result<()> + Send,
) -> anyhow::Result<Part> {
    let mut hasher = PartHasher::default();
    let mut line = Vec::new();
    from.for_each_row_of_all(table, |mut row| {
        prepare(&mut row)?;
        line.clear();
        write_row(&row, &mut line)?;
        hasher.add(&line);
        receive(&line)
    })
    .await?;
    Ok(hasher.part(table.name))
}
