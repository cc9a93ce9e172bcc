//! Collections: JSON documents under ids chosen by the network, searchable by indexed fields.
//!
//! Invariants: a document and its index entries are written in one transaction; every document of a registered
//! collection with a field of an index's type is in that index, regardless of which was created first; pages are
//! ordered by value and id, so that inserts neither repeat nor skip a document.
//!
//! Writers of documents therefore hold a shared lock on the collection's definition until they commit, and adding an
//! index takes an exclusive one: no document can slip in between the addition of an index and its build. An index is
//! used once it is complete. Tables: `collections` (definitions), `collection_documents`, `collection_entries`
//! (indexes), `collection_index_builds` (incomplete indexes).

mod answer;
mod body;
mod build;
mod cursor;
mod index;
mod model;
mod register;
mod routes;
mod service;
mod store;

use crate::app::App;

pub use build::IndexBuilds;
pub use routes::router;

/// Starts the background work.
pub fn start(app: &App) {
    build::start(app);
}
