//! A network as one file: `hub network export` and `hub network import` move it from one database to another.
//!
//! The file is a plain tar, its members in this order; `docs/operate/export-and-import.md` describes it for operators.
//!
//! - `manifest.json`: the versions of the format and of the schema, and the network's id and name;
//! - `tables/TABLE/000001.jsonl` …: the rows, each a JSON list of its columns, in the order of their keys;
//! - `files/…`: large modules, bundles, snapshots that the hub itself received, and artifacts;
//! - `summary.json`: how many rows and files there are, and the SHA-256 of each part.
//!
//! Invariants: the same network gives the same bytes on either database, whenever it is exported; all imported rows are
//! of the manifest's network, since rows do not carry one; an imported network exists once all of it is there.
//! Tables: `network_imports`; reads and writes all of [`TABLES`].

pub mod backup;
mod checks;
mod export;
mod files;
mod format;
mod hashing;
mod import;
mod module_code;
mod reader;
mod store;
mod tables;

pub(crate) use export::export;
pub(crate) use format::Report;
pub(crate) use import::import;
pub(crate) use tables::{NETWORKS, is_of_module_store};
pub use tables::{TABLES, UNEXPORTED_TABLES};
