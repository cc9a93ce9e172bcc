//! Imports of permissions, punishments and balances from other tools.
//!
//! A file is uploaded to the blob store and its import recorded. The network's owner reads it twice, on a separate
//! thread: first completely, so that an invalid file changes nothing, then to write it in batches of some
//! milliseconds. Each batch is one transaction that also stores the import's position, so that an interrupted import
//! resumes there, at any node. A dry run computes the same without writing.
//!
//! Invariants: a network has at most one unfinished import; imported records are recognised by their source, so that
//! repeating an import of a file changes nothing; limits apply to imported rows like to others. Tables: `imports`,
//! with their files in the blob store until they end, and `import_sources` (sources of punishments and balances).

mod apply;
mod balances;
mod batch;
mod file;
mod json_guard;
mod litebans;
mod luckperms;
mod model;
mod record;
mod report;
mod routes;
mod run;
mod service;
mod sql;
mod store;

pub use routes::router;
pub use run::start;
