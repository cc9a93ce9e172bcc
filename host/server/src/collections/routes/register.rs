//! Registering collections.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::Plugin;
use crate::collections::model::{CollectionDefinition, CollectionName, FieldPath, IndexDefinition};
use crate::collections::service::{self, StoredCollection};
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::ApiError;
use crate::http::extract::Json;
use crate::values::blank_as_absent;

/// The most collections registered by one call.
const MAX_PER_CALL: usize = 100;

pub(super) fn router() -> Endpoints {
    endpoints![register_collections: transactional]
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = CollectionDefinitions)]
struct RegisterCollections {
    /// At most 100.
    #[schema(max_items = 100)]
    collections: Vec<RegisterCollection>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = CollectionDefinition)]
struct RegisterCollection {
    name: CollectionName,
    /// The field of a document that, where it is there, must hold the document's id.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[schema(example = "id")]
    key: Option<FieldPath>,
    /// The fields to find documents by, at most 16.
    #[schema(max_items = 16)]
    indexes: Option<Vec<IndexDefinition>>,
}

/// What the collections are now.
#[derive(Debug, Serialize, ToSchema)]
struct RegisteredCollections {
    collections: Vec<RegisteredCollection>,
}

/// What a collection is now.
#[derive(Debug, Serialize, ToSchema)]
struct RegisteredCollection {
    name: CollectionName,
    /// The field of a document that, where it is there, must hold the document's id.
    #[schema(example = "id")]
    key: Option<FieldPath>,
    indexes: Vec<RegisteredIndex>,
}

/// An index of a collection.
#[derive(Debug, Serialize, ToSchema)]
struct RegisteredIndex {
    #[serde(flatten)]
    definition: IndexDefinition,
    state: IndexState,
}

/// Whether documents can be found by an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum IndexState {
    /// Documents that were stored before it are still being added; to find by it is 503 `index_building`.
    Building,
    /// All documents are in it.
    Ready,
}

impl From<StoredCollection> for RegisteredCollection {
    fn from(StoredCollection { definition, building }: StoredCollection) -> Self {
        let index = |definition: IndexDefinition| {
            let state = if building.contains(&definition.field) { IndexState::Building } else { IndexState::Ready };
            RegisteredIndex { definition, state }
        };
        let indexes = definition.indexes.into_iter().map(index).collect();
        Self { name: definition.name, key: definition.key, indexes }
    }
}

/// Register collections
///
/// Adds what is new and answers what each collection is now: safe whenever a server starts. A new index is built over
/// the documents that are stored; where that takes longer than two seconds, the answer comes before, with the index
/// BUILDING, and the build goes on. A stored text that is too long for it is left out. What is there stays: an index that is
/// not named is kept, one whose type differs is 400 `index_type_changed`, another key 400 `key_changed`; then nothing
/// of the call is done. A key that is added later counts for documents put from then on.
#[utoipa::path(post, path = "/api/plugin/collections/register", tag = "Collections",
    security(("apiKey" = ["plugin"])), responses((status = 200, body = RegisteredCollections)))]
async fn register_collections(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Json(body): Json<RegisterCollections>,
) -> Result<Json<RegisteredCollections>, ApiError> {
    if body.collections.len() > MAX_PER_CALL {
        return Err(ApiError::invalid(format!("In the body, `collections`: must be at most {MAX_PER_CALL}.")));
    }
    let requested = body.collections.into_iter().map(|collection| CollectionDefinition {
        name: collection.name,
        key: collection.key,
        indexes: collection.indexes.unwrap_or_default(),
    });
    let requested: Vec<_> = requested.collect();
    let registered = service::register(&app, caller.network, &requested).await?;
    Ok(Json(RegisteredCollections { collections: registered.into_iter().map(RegisteredCollection::from).collect() }))
}
