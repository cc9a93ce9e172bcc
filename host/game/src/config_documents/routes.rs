//! `/api/plugin/config`.

use axum::extract::State;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::Plugin;
use crate::config_documents::model::{ConfigDocument, ConfigKey};
use crate::config_documents::service;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::document::Document;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path};
use crate::values::Identifier;

/// Routes of config documents.
pub(super) fn router() -> Endpoints {
    endpoints![publish_config: transactional publishing, register_config: transactional, get_config]
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = ConfigPublication)]
struct PublishConfig {
    /// Target group, for example a type of server.
    #[schema(example = "lobby")]
    group: Identifier,
    /// Subject, for example a plugin.
    #[schema(example = "scoreboard")]
    namespace: Identifier,
    /// Any JSON value including null, at most 256 KiB.
    #[schema(value_type = serde_json::Value, example = json!({"title": "Welcome", "lines": 3}))]
    doc: Document,
}

/// Publish a config document
///
/// Stores the document, replacing any existing one, and returns it. If that changed anything, every server gets a
/// `CONFIG_UPDATED` event with `group` and `namespace`.
#[utoipa::path(post, path = "/api/plugin/config/publish", tag = "Config", operation_id = "publish_config_document", security(("apiKey" = ["plugin"])),
    responses((status = 200, body = ConfigDocument)))]
async fn publish_config(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Json(body): Json<PublishConfig>,
) -> Result<Json<ConfigDocument>, ApiError> {
    let key = ConfigKey { group: body.group, namespace: body.namespace };
    Ok(Json(service::publish(&app, caller.network, key, body.doc.bounded()?).await?))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ConfigRegistration)]
struct RegisterConfig {
    /// Target group, for example a type of server.
    #[schema(example = "lobby")]
    group: Identifier,
    /// Subject, for example a plugin.
    #[schema(example = "scoreboard")]
    namespace: Identifier,
    /// Stored if there is no document yet: any JSON value including null, at most 256 KiB.
    #[schema(value_type = serde_json::Value, example = json!({"title": "Welcome", "lines": 3}))]
    default_doc: Document,
}

/// Register a config document's default
///
/// Stores the default only if there is no document, and returns the stored document: safe to call at every server
/// start.
#[utoipa::path(post, path = "/api/plugin/config/register", tag = "Config", operation_id = "register_config_document", security(("apiKey" = ["plugin"])),
    responses((status = 200, body = ConfigDocument)))]
async fn register_config(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Json(body): Json<RegisterConfig>,
) -> Result<Json<ConfigDocument>, ApiError> {
    let key = ConfigKey { group: body.group, namespace: body.namespace };
    Ok(Json(service::register(&app, caller.network, key, body.default_doc.bounded()?).await?))
}

/// Get a config document
///
/// Returns the document as published, or else its registered default.
#[utoipa::path(get, path = "/api/plugin/config/{group}/{namespace}", tag = "Config", operation_id = "get_config_document",
    security(("apiKey" = ["plugin"])),
    params(("group" = String, Path, example = "lobby"), ("namespace" = String, Path, example = "scoreboard")),
    responses((status = 200, body = ConfigDocument),
        (status = 404, body = ErrorBody, description = "No such document")))]
async fn get_config(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Path((group, namespace)): Path<(Identifier, Identifier)>,
) -> Result<Json<ConfigDocument>, ApiError> {
    Ok(Json(service::get(&app, caller.network, ConfigKey { group, namespace }).await?))
}
