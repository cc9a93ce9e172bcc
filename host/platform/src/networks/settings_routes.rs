//! `/api/manage/network`.

use axum::extract::State;
use axum::http::HeaderName;

use crate::app::App;
use crate::auth::NetworkManage;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::Json;
use crate::http::if_match::{IF_MATCH_DESCRIPTION, IfMatch, entity_tag, revision_of};
use crate::networks::settings::{self, NetworkSettings, SettingsUpdate};

/// Routes of a network's settings.
pub(super) fn router() -> Endpoints {
    endpoints![get_network, patch_network]
}

/// Settings with their revision as `ETag`.
type Tagged = ([(HeaderName, String); 1], Json<NetworkSettings>);

fn tagged(settings: NetworkSettings) -> Tagged {
    (entity_tag(revision_of(&settings)), Json(settings))
}

/// Get the network and its settings
///
/// The header `ETag` has their revision, for `If-Match` of a change.
#[utoipa::path(get, path = "/api/manage/network", operation_id = "get_network_settings", tag = "Network",
    security(("apiKey" = ["network:manage"])), responses((status = 200, body = NetworkSettings,
        headers(("ETag" = String, description = "The settings' revision")))))]
async fn get_network(NetworkManage(caller): NetworkManage, State(app): State<App>) -> Result<Tagged, ApiError> {
    Ok(tagged(settings::get(&app, caller.network).await?))
}

/// Change the network's settings
///
/// Fields that are absent keep their values. With `If-Match` it changes them only at that revision, the `ETag` of reading
/// them: else it is 409 `revision_changed` with those of now.
#[utoipa::path(patch, path = "/api/manage/network", operation_id = "update_network_settings", tag = "Network",
    security(("apiKey" = ["network:manage"])), params(("If-Match" = Option<String>, Header, description = IF_MATCH_DESCRIPTION)),
    responses((status = 200, body = NetworkSettings, headers(("ETag" = String, description = "The new revision"))),
        (status = 409, body = ErrorBody, description = "Somebody changed it since the revision of `If-Match`")))]
async fn patch_network(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    expected: IfMatch,
    Json(body): Json<SettingsUpdate>,
) -> Result<Tagged, ApiError> {
    Ok(tagged(settings::update(&app, caller.network, (body, expected), &caller.origin(&app)).await?))
}
