//! `/api/manage/network`.

use axum::extract::State;

use crate::app::App;
use crate::auth::NetworkManage;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::ApiError;
use crate::http::extract::Json;
use crate::networks::settings::{self, NetworkSettings, SettingsUpdate};

/// Routes of a network's settings.
pub(super) fn router() -> Endpoints {
    endpoints![get_network, patch_network]
}

/// Get the network and its settings
#[utoipa::path(get, path = "/api/manage/network", operation_id = "get_network_settings", tag = "Network",
    security(("apiKey" = ["network:manage"])), responses((status = 200, body = NetworkSettings)))]
async fn get_network(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
) -> Result<Json<NetworkSettings>, ApiError> {
    Ok(Json(settings::get(&app, caller.network).await?))
}

/// Change the network's settings
///
/// Fields that are absent keep their values.
#[utoipa::path(patch, path = "/api/manage/network", operation_id = "update_network_settings", tag = "Network",
    security(("apiKey" = ["network:manage"])), responses((status = 200, body = NetworkSettings)))]
async fn patch_network(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Json(body): Json<SettingsUpdate>,
) -> Result<Json<NetworkSettings>, ApiError> {
    Ok(Json(settings::update(&app, caller.network, body, &caller.origin(&app)).await?))
}
