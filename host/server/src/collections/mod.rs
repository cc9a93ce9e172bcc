//! Collections: JSON documents under ids of a network's own, found again by indexed fields.
//!
//! Invariants: a document and its index entries are written in one transaction; every document of a registered
//! collection that has a field of the index's type is in that index, whether the index or the document was there
//! first; pages go by value and id, so that inserts neither repeat nor skip a document.
//!
//! For that, who writes a document holds the collection's definition shared until the end, and who adds an index holds
//! it alone: no document can slip in between the building of an index and its use.
//! Tables: `collections` (the definitions), `collection_documents`, `collection_entries` (the indexes).

mod body;
mod cursor;
mod index;
mod model;
mod register;
mod routes;
pub mod service;
mod store;

pub use model::{CollectionName, Definition, DocumentId, FieldPath, IndexDefinition, IndexType, Order};
pub(crate) use routes::router;
