//! A network as one file: `hub admin network export` and `hub admin network import` move it between databases.
//!
//! The file is a plain tar, its members in this order; `docs/reference/file-formats.md` describes it.
//!
//! - `manifest.json`: versions of format and schema, and the network's id and name;
//! - `tables/TABLE/000001.jsonl` …: rows, each a JSON list of its columns, in the order of their keys;
//! - `files/…`: large modules, bundles, snapshots received by the hub itself, and artifacts;
//! - `summary.json`: numbers of rows and files, and the SHA-256 of each part.
//!
//! Invariants: a network's export has the same bytes from either database, at any time; all imported rows belong to
//! the manifest's network, since rows do not carry one; an imported network exists only once it is complete.
//! Tables: `network_imports`; reads and writes all tables that move with a network.

pub mod backup;
mod checks;
mod export;
mod files;
mod format;
mod hashing;
mod import;
mod module_code;
mod progress;
mod reader;
mod row;
mod store;

use crate::component::{Component, TableRule};

pub use export::export;
pub use format::Report;
pub use import::{ImportOptions, check_plan, discard, import};
pub use progress::bytes_moved;

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "`hub admin network export` and `import` ([export and import](../operate/export-and-import.md)), `hub admin backup` and `restore` ([backup](../operate/backup.md)); reads and writes all tables",
    tables: &[TableRule::hub("network_imports"), TableRule::hub("restores").not_backed_up("belongs to this database")],
    ..Component::new(module_path!())
};
