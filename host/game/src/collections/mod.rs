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
pub mod effects;
mod index;
mod model;
mod register;
mod routes;
mod service;
mod store;

use crate::collections::index::MAX_TEXT_BYTES;
use crate::collections::model::{CollectionName, DocumentId, FieldPath, IndexDefinition};
use crate::component::column::{bytes, convert, json, read, text};
use crate::component::{Component, ErrorCode, TableRule, Tag};
use crate::http::document::Document;

pub use build::IndexBuilds;

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "JSON documents with indexes",
    tags: &[Tag("Collections", "Documents with indexes.")],
    routes: || routes::router().database_only(),
    tables: &[
        TableRule::moved("collections").columns(&[
            read::<CollectionName>("name"),
            read::<FieldPath>("key_field"),
            json::<Vec<IndexDefinition>>("indexes"),
        ]),
        TableRule::moved("collection_documents").columns(&[
            read::<CollectionName>("collection"),
            read::<DocumentId>("id"),
            convert::<Document>("doc"),
        ]),
        TableRule::moved("collection_entries").columns(&[
            read::<CollectionName>("collection"),
            read::<DocumentId>("id"),
            read::<FieldPath>("field"),
            bytes("value", 0, MAX_TEXT_BYTES),
        ]),
        TableRule::moved("collection_index_builds").without_players("progress of index builds").columns(&[
            read::<CollectionName>("collection"),
            json::<Vec<FieldPath>>("fields"),
            text::<128>("after_id"),
        ]),
    ],
    errors: &[
        ErrorCode::new("document_changed", &[409], "A module's effect expects another document than there is."),
        ErrorCode::new("unknown_collection", &[404], "No such collection."),
        ErrorCode::new("unknown_document", &[404], "No such document."),
        ErrorCode::new("field_not_indexed", &[400], "The field has no index."),
        ErrorCode::new("wrong_index_type", &[400], "The field's index does not support ranges."),
        ErrorCode::new("index_building", &[503], "The index is not built yet; try again."),
        ErrorCode::new("index_type_changed", &[400], "The field is indexed with another type."),
        ErrorCode::new("index_value_too_long", &[400], "A value is too long for an index."),
        ErrorCode::new("key_mismatch", &[400], "The document's key field differs from the id in the path."),
        ErrorCode::new("key_changed", &[400], "The collection is registered with another key."),
    ],
    register: |states, _| {
        states.insert(IndexBuilds::default());
        Ok(())
    },
    background: build::start,
    ..Component::new(module_path!())
};
