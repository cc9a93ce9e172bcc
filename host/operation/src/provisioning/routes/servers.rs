//! Owners' routes of servers that are being provisioned.

use std::net::Ipv4Addr;

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::NetworkManage;
use crate::clock::Millis;
use crate::endpoints::{Endpoints, endpoints};
use crate::geo::Region;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{Page, PageQuery};
use crate::presence::provisioned::{self, DesiredState, MachineSpec, Phase, ProvisionedServer};
use crate::values::{Identifier, Text, blank_as_absent};

pub(super) fn router() -> Endpoints {
    endpoints![list, put, forget]
}

/// A server that is, or was, provisioned.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProvisionedServer)]
struct ProvisionedServerBody {
    #[schema(example = "bedwars-9")]
    server_id: Identifier,
    #[schema(value_type = Option<String>, example = "bedwars")]
    server_type: Option<Identifier>,
    display_name: Option<String>,
    #[schema(example = "hetzner")]
    provider: Option<String>,
    phase: Phase,
    desired_state: DesiredState,
    region: Option<Region>,
    #[schema(example = "cx32")]
    server_vm_type: Option<String>,
    #[schema(example = "203.0.113.7")]
    ipv4: Option<String>,
    /// Address to sign the machine in; null unless it is `AWAITING_AUTH`.
    #[schema(example = "https://accounts.example/device")]
    verify_url: Option<String>,
    /// Code to enter there.
    #[schema(example = "WDJB-MJHT")]
    user_code: Option<String>,
    created_at: Millis,
    updated_at: Millis,
}

impl From<ProvisionedServer> for ProvisionedServerBody {
    fn from(server: ProvisionedServer) -> Self {
        let spec = server.spec;
        Self {
            server_id: server.server_id,
            server_type: spec.server_type,
            display_name: spec.display_name,
            provider: spec.provider,
            phase: server.phase,
            desired_state: spec.desired_state,
            region: spec.region,
            server_vm_type: spec.server_vm_type,
            ipv4: spec.ipv4,
            verify_url: server.verify_url,
            user_code: server.user_code,
            created_at: server.created_at,
            updated_at: server.updated_at,
        }
    }
}

/// List the provisioned servers
///
/// Sorted by id, with the address and code of each one that waits for its sign-in. Registered ones remain as
/// REGISTERED.
#[utoipa::path(get, path = "/api/manage/provisioning/servers", operation_id = "list_provisioned_servers",
    tag = "Provisioning", security(("apiKey" = ["network:manage"])), params(PageQuery),
    responses((status = 200, body = Page<ProvisionedServerBody>)))]
async fn list(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<ProvisionedServerBody>>, ApiError> {
    let offset = query.page.offset(query.limit);
    let (rows, total) = provisioned::list(&app, caller.network, query.limit.0, offset).await?;
    Ok(Json(Page::new(rows, query.page, query.limit, total).map(ProvisionedServerBody::from)))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProvisionedServerUpdate)]
struct PutProvisionedServer {
    /// Type of the server.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[schema(value_type = Option<String>, max_length = 255, example = "bedwars")]
    server_type: Option<Identifier>,
    /// Display name for players.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[schema(example = "Bedwars Nine")]
    display_name: Option<Text<255>>,
    /// Name of the provider.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[schema(example = "hetzner")]
    provider: Option<Text<255>>,
    /// Default: RUNNING.
    desired_state: Option<DesiredState>,
    #[serde(default, deserialize_with = "blank_as_absent")]
    region: Option<Region>,
    /// Type of the machine.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[schema(example = "cx32")]
    server_vm_type: Option<Text<255>>,
    /// Address of the machine.
    #[schema(value_type = Option<String>, format = Ipv4, example = "203.0.113.7")]
    ipv4: Option<Ipv4Addr>,
}

/// Create or update a provisioned server
///
/// For the owner's own provisioner: the server appears in the registry with the status PROVISIONING, until it
/// registers. Replaces all earlier values except the machine's phase.
#[utoipa::path(put, path = "/api/manage/provisioning/servers/{serverId}", operation_id = "put_provisioned_server",
    tag = "Provisioning", security(("apiKey" = ["network:manage"])), params(("serverId" = Identifier, Path)),
    responses((status = 200, body = ProvisionedServerBody)))]
async fn put(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path(server): Path<Identifier>,
    Json(body): Json<PutProvisionedServer>,
) -> Result<Json<ProvisionedServerBody>, ApiError> {
    let spec = MachineSpec {
        server_type: body.server_type,
        display_name: body.display_name.map(Text::into_string),
        provider: body.provider.map(Text::into_string),
        desired_state: body.desired_state.unwrap_or_default(),
        region: body.region,
        server_vm_type: body.server_vm_type.map(Text::into_string),
        ipv4: body.ipv4.map(|address| address.to_string()),
    };
    Ok(Json(provisioned::put(&app, caller.network, server, spec, &caller.origin(&app)).await?.into()))
}

/// Delete a provisioned server
///
/// A registered server stays in the registry and is no longer `provisioned`.
#[utoipa::path(delete, path = "/api/manage/provisioning/servers/{serverId}",
    operation_id = "delete_provisioned_server", tag = "Provisioning", security(("apiKey" = ["network:manage"])),
    params(("serverId" = Identifier, Path)), responses((status = 204, description = "Deleted"),
        (status = 404, body = ErrorBody, description = "No such provisioned server")))]
async fn forget(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path(server): Path<Identifier>,
) -> Result<StatusCode, ApiError> {
    provisioned::delete(&app, caller.network, server, &caller.origin(&app)).await?;
    Ok(StatusCode::NO_CONTENT)
}
