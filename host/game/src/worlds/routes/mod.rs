//! All routes of worlds.

mod actions;
mod callbacks;
mod open;
mod snapshots;

use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::blobs::Blobs;
use crate::clock::{Millis, millis};
use crate::endpoints::{Endpoints, endpoints, public_endpoints};
use crate::http::error::ApiError;
use crate::http::hub_url::HubUrl;
use crate::values::Identifier;
use crate::worlds::model::{Lease, LeaseState};

/// Routes with a key.
pub(super) fn router() -> Endpoints {
    endpoints![
        open::open_world: publishing,
        callbacks::release_all_worlds,
        callbacks::heartbeat_world,
        callbacks::ready_world,
        callbacks::unloaded_world,
        actions::release_world: publishing,
        actions::snapshot_world: publishing,
        actions::mint_world_upload_url: secret,
    ]
}

/// Routes with a signed link instead of a key.
pub(super) fn public_router() -> Endpoints {
    public_endpoints![snapshots::put_world_blob | snapshots::get_world_blob]
}

/// Base URL of links to snapshots. A store with links of its own needs none of the hub's.
fn snapshot_base(app: &App, hub: HubUrl) -> Result<String, ApiError> {
    if app.state::<Blobs>().is_folder() { hub.required() } else { Ok(hub.0.unwrap_or_else(|| app.settings.url(""))) }
}

/// Current state of a lease.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WorldLease)]
struct LeaseAnswer {
    /// Number of the lease, as text.
    #[schema(example = "17")]
    world_instance_id: String,
    state: LeaseState,
    /// Sent by the node in each callback.
    #[schema(example = 3)]
    fence: i64,
    /// Node that holds it; null while it waits for the previous lease to end.
    #[schema(example = "island-node-1")]
    node_server_id: Option<Identifier>,
    /// Number of players in it, as last reported by its node.
    #[schema(example = 2)]
    player_count: i64,
    /// Duration of the lease from each heartbeat.
    #[schema(example = 60_000)]
    lease_ms: Millis,
    /// Expiry; meaningless for a lease that has ended.
    #[schema(example = 1_804_680_060_000_i64)]
    expires_at: Millis,
}

impl LeaseAnswer {
    fn of(app: &App, lease: Lease) -> Self {
        Self {
            world_instance_id: lease.id.to_string(),
            state: lease.state,
            fence: lease.fence,
            node_server_id: lease.node_server_id,
            player_count: lease.players,
            lease_ms: millis(app.settings.lease()),
            expires_at: lease.expires_at,
        }
    }
}
