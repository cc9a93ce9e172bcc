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

/// Maximum number of collections registered per call.
const MAX_PER_CALL: usize = 100;

pub(super) fn router() -> Endpoints {
    endpoints![register_collections: transactional]
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = CollectionDefinitions)]
struct RegisterCollections {
    /// At most 100 collections.
    #[schema(max_items = 100)]
    collections: Vec<RegisterCollection>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = CollectionDefinition)]
struct RegisterCollection {
    name: CollectionName,
    /// Field that must contain the document's id, if the document has it.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[schema(example = "id")]
    key: Option<FieldPath>,
    /// Fields for finding documents, at most 16.
    #[schema(max_items = 16)]
    indexes: Option<Vec<IndexDefinition>>,
}

/// Current state of the collections.
#[derive(Debug, Serialize, ToSchema)]
struct RegisteredCollections {
    collections: Vec<RegisteredCollection>,
}

/// Current state of a collection.
#[derive(Debug, Serialize, ToSchema)]
struct RegisteredCollection {
    name: CollectionName,
    /// Field that must contain the document's id, if the document has it.
    #[schema(example = "id")]
    key: Option<FieldPath>,
    indexes: Vec<RegisteredIndex>,
}

/// Index of a collection.
#[derive(Debug, Serialize, ToSchema)]
struct RegisteredIndex {
    #[serde(flatten)]
    definition: IndexDefinition,
    state: IndexState,
}

/// State of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum IndexState {
    /// Existing documents are still being added; queries return 503 `index_building`.
    Building,
    /// The index contains all documents.
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
/// Adds new collections, indexes and keys and returns the current state of each collection: safe to call at every
/// server start. A new index is built over the existing documents; if that takes longer than two seconds, the response
/// comes earlier, with the index BUILDING, and the build continues. Stored texts too long for it are left out.
/// Existing definitions stay: unnamed indexes are kept, a changed index type is 400 `index_type_changed`, a changed
/// key 400 `key_changed`, and then the whole call has no effect. A key added later applies to documents stored from
/// then on.
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
