//! Look-ups of servers and of the players on them, for the components above.

use std::collections::HashMap;

use thiserror::Error;

use crate::app::App;
use crate::http::error::ApiError;
use crate::servers::model::{KnownServer, Location, RegisteredServer, RegistryRow, Search};
use crate::servers::presence::Server;
use crate::servers::provisioned;
use crate::servers::snapshot::LiveServer;
use crate::servers::store;
use crate::values::{Identifier, NetworkId, PlayerId};

pub use crate::servers::saving::save_all;

/// What can be wrong with a look-up of a server.
#[derive(Debug, Error)]
pub enum ServersError {
    /// The registry has no such server.
    #[error("This network has no server `{0}`.")]
    Unknown(Identifier),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<ServersError> for ApiError {
    fn from(error: ServersError) -> Self {
        let message = error.to_string();
        match error {
            ServersError::Unknown(_) => Self::not_found("unknown_server", message),
            ServersError::Database(error) => error.into(),
        }
    }
}

fn registered(app: &App, network: NetworkId, mut row: RegistryRow, provisioned: bool) -> RegisteredServer {
    let now = app.clock.now();
    let live = app.presence.with(network, |presence| {
        let server = presence.server(row.facts.server_id.as_str(), now)?;
        row.facts = (*server.facts).clone();
        row.last_seen = server.last_heartbeat;
        Some(server.snapshot())
    });
    RegisteredServer { row, live, provisioned }
}

/// The servers of the registry by id, those that are being made among them, and how many there are.
pub(crate) async fn list(
    app: &App,
    network: NetworkId,
    search: Search,
    limit: i64,
    offset: i64,
) -> Result<(Vec<KnownServer>, i64), ServersError> {
    let now = app.clock.now();
    let online: Vec<_> = match search.online {
        Some(_) => app.presence.with(network, |presence| {
            presence.online(now).map(|server| server.facts.server_id.clone()).collect()
        }),
        None => vec![],
    };
    let (ids, total) = store::list(&app.db, network, &search, &online, limit, offset).await?;
    Ok((read(app, network, &ids).await?, total))
}

/// A server of the registry.
pub(crate) async fn get(app: &App, network: NetworkId, id: Identifier) -> Result<KnownServer, ServersError> {
    let found = read(app, network, std::slice::from_ref(&id)).await?;
    found.into_iter().next().ok_or(ServersError::Unknown(id))
}

/// These servers in this order, as far as they are there.
async fn read(app: &App, network: NetworkId, ids: &[Identifier]) -> Result<Vec<KnownServer>, ServersError> {
    if ids.is_empty() {
        return Ok(vec![]);
    }
    let rows = store::find_all(&app.db, network, ids).await?;
    let made = provisioned::among(&app.db, network, ids).await?;
    let mut rows: HashMap<_, _> = rows.into_iter().map(|row| (row.facts.server_id.clone(), row)).collect();
    let mut made: HashMap<_, _> = made.into_iter().map(|row| (row.server_id.clone(), row)).collect();
    let listed = ids.iter().filter_map(|id| match (rows.remove(id), made.remove(id)) {
        (Some(row), made) => Some(KnownServer::Registered(Box::new(registered(app, network, row, made.is_some())))),
        (None, Some(made)) => Some(KnownServer::Provisioning(Box::new(made))),
        (None, None) => None,
    });
    Ok(listed.collect())
}

/// Whether the network's registry has the server: online, offline, or being made.
pub(crate) async fn is_known_server(app: &App, network: NetworkId, id: &Identifier) -> Result<bool, hub_db::Error> {
    Ok(snapshot(app, network, id).is_some()
        || store::exists(&app.db, network, id).await?
        || provisioned::exists(&app.db, network, id).await?)
}

/// The server as it is now, if it is online.
pub(crate) fn snapshot(app: &App, network: NetworkId, id: &Identifier) -> Option<LiveServer> {
    let now = app.clock.now();
    app.presence.with(network, |presence| presence.server(id.as_str(), now).map(Server::snapshot))
}

/// Who is on a server, or in one of its worlds, in the order of their UUIDs.
pub(crate) fn players_on(app: &App, network: NetworkId, server_id: &str, world_id: Option<&str>) -> Vec<PlayerId> {
    let now = app.clock.now();
    let locations = app
        .presence
        .with(network, |presence| presence.players(now, |server| server.facts.server_id.as_str() == server_id));
    let in_world = |at: &Location| world_id.is_none() || at.world_id.as_ref().map(Identifier::as_str) == world_id;
    let mut players: Vec<_> = locations.iter().filter(|at| in_world(at)).map(|at| at.player).collect();
    players.sort_unstable();
    players
}

/// Where the player is, if they are online.
pub(crate) fn online_player(app: &App, network: NetworkId, player: PlayerId) -> Option<Location> {
    let now = app.clock.now();
    app.presence.with(network, |presence| presence.locate(player, now))
}
