//! Moving in: permissions, punishments and balances from the tools that networks ran before.
//!
//! A file is uploaded to the blob store and its import recorded. The network's owner reads it twice, on a thread of its own:
//! first to the end, so that a wrong file changes nothing, then to write what it says in batches of some milliseconds.
//! Each batch is one transaction with how far the import came, so that an interrupted one goes on there, at any node.
//! A dry run works out the same without writing.
//!
//! Invariants: a network has one import at a time that has not ended; what was imported once is found again by where it
//! comes from, so that a second import of a file changes nothing; limits hold for imported rows as for others.
//! Tables: `imports` with their files in the blob store until they end, `import_sources` (where punishments and balances
//! come from).

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

pub(crate) use routes::router;
pub(crate) use run::{Imports, start};
