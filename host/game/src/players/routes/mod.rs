//! `/api/plugin/players`, except the statistics.

mod data;
mod ips;
mod language;
mod list;
mod namespaces;
mod profile;
mod sessions;
mod snapshots;

use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::endpoints::Endpoints;
use crate::presence;
use crate::values::{Identifier, NetworkId, PlayerId};

/// Routes of this component.
pub(super) fn router() -> Endpoints {
    let players = list::router().merge(profile::router()).merge(data::router()).merge(ips::router());
    players.merge(language::router()).merge(sessions::router()).merge(snapshots::router()).merge(namespaces::router())
}

/// Route that waits in memory.
pub(super) fn opening() -> Endpoints {
    sessions::opening()
}

/// Location of a player.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlayerConnection)]
pub(super) struct Connection {
    #[schema(example = "bedwars-1")]
    server_id: Identifier,
    #[schema(example = "bedwars")]
    server_type: Identifier,
    /// Null until a world is reported.
    #[schema(value_type = Option<String>, example = "arena-3")]
    world_id: Option<Identifier>,
}

impl Connection {
    /// Server of a player who is online, from memory.
    fn find(app: &App, network: NetworkId, player: PlayerId) -> Option<Self> {
        let at = presence::service::online_player(app, network, player)?;
        Some(Self { server_id: at.server_id, server_type: at.server_type, world_id: at.world_id })
    }
}
