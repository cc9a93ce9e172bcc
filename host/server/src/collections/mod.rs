//! Collections: JSON documents under ids of a network's own, found again by indexed fields.
//!
//! Invariants: a document and its index entries are written in one transaction; every document of a registered
//! collection that has a field of the index's type is in that index, whether the index or the document was there
//! first; pages go by value and id, so that inserts neither repeat nor skip a document.
//!
//! A writer of documents therefore holds a shared lock on the collection's definition until it commits, and adding an
//! index holds an exclusive one: no document slips in between the adding of an index and its building. An index is used
//! once it is complete. Tables: `collections` (the definitions), `collection_documents`, `collection_entries` (the
//! indexes), `collection_index_builds` (indexes that are not complete).

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

pub(crate) use build::IndexBuilds;
pub(crate) use routes::router;

/// Starts the background work.
pub(crate) fn start(app: &App) {
    build::start(app);
}
