//! Opening a world.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::snapshot_base;
use crate::app::App;
use crate::auth::Plugin;
use crate::http::error::ApiError;
use crate::http::extract::Json;
use crate::http::hub_url::HubUrl;
use crate::presence::LiveServer;
use crate::values::{Identifier, Text, blank_as_absent};
use crate::worlds::model::{OpenWorldRequest, Persistence, Seed, WorldName, WorldRef};
use crate::worlds::service::{self, Opened};

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WorldRequest)]
pub(super) struct OpenWorld {
    /// Type of the owner; with `player`, and their UUID as `ownerId`, a slot is reserved for them if the world is up.
    #[schema(example = "player")]
    owner_scope: WorldName,
    /// Owner of the world.
    #[schema(example = "069a79f4-44e9-4726-a5be-fca90e38aaf5")]
    owner_id: WorldName,
    /// Game, which is the type of the servers that can boot it.
    #[schema(example = "islands")]
    game_id: Identifier,
    /// Key among the owner's worlds. Default: `default`.
    #[schema(example = "main")]
    world_key: Option<WorldName>,
    /// Server that should boot it, if it is online with room.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[schema(example = "island-node-1")]
    prefer_node: Option<Identifier>,
    /// Source of a new world; passed to the node unchanged.
    seed: Option<Seed>,
    /// Default: PERSISTENT.
    persistence: Option<Persistence>,
    /// Passed to the node unchanged.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[schema(example = "flat")]
    world_gen: Option<Text<255>>,
}

impl OpenWorld {
    fn request(self) -> OpenWorldRequest {
        // A name by construction.
        let key = self.world_key.map_or_else(|| "default".parse(), Ok);
        OpenWorldRequest {
            world: WorldRef {
                game_id: self.game_id,
                owner_scope: self.owner_scope.clone(),
                owner_id: self.owner_id,
                world_key: key.unwrap_or(self.owner_scope),
            },
            prefer_node: self.prefer_node,
            seed: self.seed,
            persistence: self.persistence.unwrap_or_default(),
            world_gen: self.world_gen.map(Text::into_string),
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schema(as = WorldOpenStatus)]
pub(super) enum OpenStatus {
    /// It is up on `matchedServer`.
    Ready,
    /// It boots; `WORLD_READY` reports when it is up.
    Loading,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OpenedWorld)]
pub(super) struct OpenAnswer {
    success: bool,
    /// Null if it is unavailable now.
    status: Option<OpenStatus>,
    /// Number of the lease, repeated by `WORLD_READY`; as a `worldId`, the world's name on its server.
    #[schema(example = "17")]
    world_instance_id: Option<String>,
    /// Human-readable reason; null on success.
    #[schema(example = json!(null))]
    error_message: Option<String>,
    /// Server on which it is up.
    matched_server: Option<LiveServer>,
    /// Id of the slot that is reserved for the owner for 15 seconds; null if none is needed or free.
    #[schema(example = "0b0cbd8c-8d1f-4c1e-a3c5-6a4f1cbf8c5e")]
    transfer_id: Option<Uuid>,
}

impl From<Opened> for OpenAnswer {
    fn from(opened: Opened) -> Self {
        let none = Self {
            success: true,
            status: None,
            world_instance_id: None,
            error_message: None,
            matched_server: None,
            transfer_id: None,
        };
        match opened {
            Opened::Up { id, server, transfer } => Self {
                status: Some(OpenStatus::Ready),
                world_instance_id: Some(id.to_string()),
                matched_server: Some(*server),
                transfer_id: transfer,
                ..none
            },
            Opened::Booting { id } => {
                Self { status: Some(OpenStatus::Loading), world_instance_id: Some(id.to_string()), ..none }
            }
            Opened::Refused(reason) => Self { success: false, error_message: Some(reason), ..none },
        }
    }
}

/// Open a world
///
/// READY if it is up; else LOADING while a node boots it (from its newest snapshot, if it has one), and a `WORLD_READY`
/// event with its `worldInstanceId` goes to every server of the network when it is up. Concurrent requests for one
/// world get the same lease. A world that is being unloaded boots again as soon as it is saved. An unavailable world
/// (no server can boot it, or its node is silent) is not an error: `success` is false.
#[utoipa::path(post, path = "/api/plugin/worlds/open", tag = "Worlds", security(("apiKey" = ["plugin"])),
    responses((status = 200, body = OpenAnswer)))]
pub(super) async fn open_world(
    Plugin(caller): Plugin,
    State(app): State<App>,
    hub: HubUrl,
    Json(body): Json<OpenWorld>,
) -> Result<Json<OpenAnswer>, ApiError> {
    let hub_url = snapshot_base(&app, hub)?;
    Ok(Json(service::open(&app, caller.network, &body.request(), &hub_url).await?.into()))
}
