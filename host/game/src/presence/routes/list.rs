//! Registry, for connectors and for owners.

use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::app::App;
use crate::auth::{Plugin, ServersRead};
use crate::endpoints::{Endpoints, endpoints};
use crate::geo::Region;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{Limit, Page, PageNumber};
use crate::presence::Search;
use crate::presence::routes::listed::ListedServer;
use crate::presence::sessions;
use crate::values::{Identifier, NetworkId, blank_as_absent, not_blank};

pub(super) fn router() -> Endpoints {
    endpoints![list: large_answer, list_for_owner: large_answer, get]
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
struct ListQuery {
    #[serde(default)]
    #[param(inline, required = false)]
    limit: Limit,
    #[serde(default)]
    #[param(inline, required = false)]
    page: PageNumber,
    /// Only online servers, or only offline ones.
    online: Option<bool>,
    /// Only servers in this region.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[param(value_type = Option<String>)]
    region: Option<Region>,
    /// Part of the server's id or display name, case-insensitive.
    search: Option<String>,
    /// Only servers of this type.
    server_type: Option<String>,
}

async fn page(app: &App, network: NetworkId, query: ListQuery) -> Result<Page<ListedServer>, ApiError> {
    let search = Search {
        server_type: not_blank(query.server_type.as_deref()).map(str::to_owned),
        region: query.region,
        text: not_blank(query.search.as_deref()).map(str::to_owned),
        online: query.online,
    };
    let offset = query.page.offset(query.limit);
    let (servers, total) = sessions::list(app, network, search, query.limit.0, offset).await?;
    Ok(Page::new(servers, query.page, query.limit, total).map(ListedServer::from))
}

/// List the servers
///
/// All servers that ever registered, by id, with their live state if online; and those whose machine is still being
/// provisioned, with `provisioning` and the status PROVISIONING.
#[utoipa::path(get, path = "/api/plugin/servers", tag = "Servers", security(("apiKey" = ["plugin"])),
    params(ListQuery), operation_id = "list_servers", responses((status = 200, body = Page<ListedServer>)))]
async fn list(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Query(query): Query<ListQuery>,
) -> Result<Json<Page<ListedServer>>, ApiError> {
    page(&app, caller.network, query).await.map(Json)
}

/// List the network's servers
///
/// Proxies and game servers that ever registered, by id, with their live state if online; and those whose machine is
/// still being provisioned, with `provisioning` and the status PROVISIONING.
#[utoipa::path(get, path = "/api/manage/servers", tag = "Manage: servers", security(("apiKey" = ["servers:read"])),
    params(ListQuery), operation_id = "list_managed_servers", responses((status = 200, body = Page<ListedServer>)))]
async fn list_for_owner(
    ServersRead(caller): ServersRead,
    State(app): State<App>,
    Query(query): Query<ListQuery>,
) -> Result<Json<Page<ListedServer>>, ApiError> {
    page(&app, caller.network, query).await.map(Json)
}

/// Read a server
#[utoipa::path(get, path = "/api/manage/servers/{serverId}", tag = "Manage: servers",
    security(("apiKey" = ["servers:read"])), params(("serverId" = String, Path)), operation_id = "get_managed_server",
    responses((status = 200, body = ListedServer), (status = 404, body = ErrorBody, description = "No such server")))]
async fn get(
    ServersRead(caller): ServersRead,
    State(app): State<App>,
    Path(id): Path<Identifier>,
) -> Result<Json<ListedServer>, ApiError> {
    Ok(Json(sessions::get(&app, caller.network, id).await?.into()))
}
