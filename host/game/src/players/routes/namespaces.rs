//! `/api/manage/players/{uuid}/data`.

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::PlayerRecordsRead;
use crate::clock::Millis;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::ApiError;
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{Page, PageQuery};
use crate::players::service;
use crate::players::store::data::NamespaceEntry;
use crate::values::{Label, PlayerId};

pub(super) fn router() -> Endpoints {
    endpoints![list_namespaces]
}

/// Namespace of a player's data, without its content.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DataNamespace {
    #[schema(example = "bedwars")]
    game_mode: Label,
    #[schema(example = "inventory")]
    namespace: Label,
    #[schema(example = 3)]
    version: i64,
    /// Size of the data in bytes.
    #[schema(example = 1_024)]
    size_bytes: i64,
    /// Time of the last write.
    #[schema(example = 1_804_680_000_000_i64)]
    updated_at: Millis,
}

impl From<NamespaceEntry> for DataNamespace {
    fn from(entry: NamespaceEntry) -> Self {
        let NamespaceEntry { game_mode, namespace, version, size_bytes, updated_at } = entry;
        Self { game_mode, namespace, version, size_bytes, updated_at }
    }
}

/// List what is stored about a player
///
/// Namespaces of all game modes, by name, without their content.
#[utoipa::path(get, path = "/api/manage/players/{uuid}/data", tag = "Player sessions", operation_id = "list_data_namespaces",
    security(("apiKey" = ["players:read", "network:manage"])), params(("uuid" = PlayerId, Path), PageQuery),
    responses((status = 200, body = Page<DataNamespace>)))]
async fn list_namespaces(
    PlayerRecordsRead(caller): PlayerRecordsRead,
    State(app): State<App>,
    Path(player): Path<PlayerId>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<DataNamespace>>, ApiError> {
    let offset = query.page.offset(query.limit);
    let (entries, total) = service::list_namespaces(&app, caller.network, player, query.limit.0, offset).await?;
    Ok(Json(Page::new(entries, query.page, query.limit, total).map(DataNamespace::from)))
}
