//! All of a hub as one file: `hub backup` and `hub restore`. `docs/operate/backup.md` describes it for operators.
//!
//! The file is a tar like that of a network, with whole tables: `manifest.json`; `tables/TABLE/000001.jsonl` …, whose rows
//! begin with their network; `files/…`, where the store of blobs is a folder; `summary.json`.
//!
//! Invariants: all rows are of one snapshot, and the blobs that they name are not deleted until the backup is complete; an
//! interrupted restore is resumed, and the database is not served before every table was read again and compared with the
//! summary.
//! Tables: `backup_holds` (in `blobs`), `restores`; reads and writes all that are not [`SKIPPED`].

mod files;
mod format;
mod read;
mod restore;
mod store;
mod tables;
mod write;

pub(crate) use format::BackupReport;
pub(crate) use restore::{refuse_incomplete, restore};
pub use tables::{SKIPPED, table_names};
pub(crate) use write::backup;
