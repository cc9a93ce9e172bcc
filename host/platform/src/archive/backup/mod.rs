//! All of a hub as one file: `hub admin backup` and `hub admin restore`. `docs/operate/backup.md` describes it for
//! operators.
//!
//! The file is a tar like a network's, with whole tables: `manifest.json`; `tables/TABLE/000001.jsonl` …, whose rows
//! begin with their network; `files/…`, if the blob store is a folder; `summary.json`.
//!
//! Invariants: all rows are from one snapshot, and their blobs are not deleted until the backup is complete; an
//! interrupted restore can be resumed, and the database is not used before every table was read back and compared with
//! the summary.
//! Tables: `backup_holds` (in `blobs`), `restores`; reads and writes all tables that no declaration leaves out.

mod files;
mod format;
mod read;
mod restore;
mod store;
mod write;

pub use format::BackupReport;
pub use restore::{refuse_incomplete, restore};
pub use write::backup;
