//! Look-ups of servers and of the players on them, for the components above.

use std::collections::{HashMap, HashSet};

use crate::app::App;
use crate::clock::Millis;
use crate::compute::compute_if;
use crate::limits::{Limit, Usage, check_rows};
use crate::presence::error::ServersError;
use crate::presence::memory::Server;
use crate::presence::model::PlayerLocation;
use crate::presence::registry::{KnownServer, RegisteredServer, RegistryRow, Search};
use crate::presence::snapshot::LiveServer;
use crate::presence::store;
use crate::presence::{Presence, provisioned};
use crate::values::{Identifier, NetworkId, PlayerId};

use crate::presence::saving::save;
pub use crate::presence::saving::save_all;

/// Number of servers deleted at once, so that it is not done for each new one.
const DELETE_BATCH: i64 = 100;
/// Number of servers up to which an answer is built on the spot.
const FEW_SERVERS: usize = 8;

fn registered(app: &App, network: NetworkId, mut row: RegistryRow, provisioned: bool) -> RegisteredServer {
    let now = app.clock.now();
    let live = app.state::<Presence>().with(network, |presence| {
        let server = presence.server(row.info.server_id.as_str(), now)?;
        row.info = (*server.info).clone();
        row.last_seen = server.last_heartbeat;
        Some(server.snapshot())
    });
    RegisteredServer { row, live, provisioned }
}

/// Makes room in the registry for a new server: the ones offline for longest are deleted.
pub(crate) async fn make_room(app: &App, network: NetworkId, id: &Identifier) -> Result<(), hub_db::Error> {
    let is_there = store::exists(&app.db, network, id);
    match check_rows::<ServersError>(app, network, store::KNOWN_SERVERS, 1, is_there).await {
        Err(ServersError::Quota(_)) => {
            let forgotten = store::forget_offline(&app.db, network, DELETE_BATCH).await?;
            app.state::<Usage>().removed(network, Limit::KnownServers, i64::try_from(forgotten).unwrap_or(i64::MAX));
            Ok(())
        }
        Err(ServersError::Database(error)) => Err(error),
        Ok(_) | Err(ServersError::Unknown(_)) => Ok(()),
    }
}

/// Servers that a search finds, by id, and their number.
pub(crate) async fn list(
    app: &App,
    network: NetworkId,
    search: Search,
    limit: i64,
    offset: i64,
) -> Result<(Vec<KnownServer>, i64), ServersError> {
    let now = app.clock.now();
    let online: Vec<_> = match search.online {
        Some(_) => app
            .state::<Presence>()
            .with(network, |presence| presence.online(now).map(|server| server.info.server_id.clone()).collect()),
        None => vec![],
    };
    let (ids, total) = store::list(&app.db, network, &search, &online, limit, offset).await?;
    Ok((find_all(app, network, &ids).await?, total))
}

/// A server of the registry.
pub async fn get(app: &App, network: NetworkId, id: Identifier) -> Result<KnownServer, ServersError> {
    let found = find_all(app, network, std::slice::from_ref(&id)).await?;
    found.into_iter().next().ok_or(ServersError::Unknown(id))
}

/// Servers among these that the registry has, in this order.
async fn find_all(app: &App, network: NetworkId, ids: &[Identifier]) -> Result<Vec<KnownServer>, ServersError> {
    if ids.is_empty() {
        return Ok(vec![]);
    }
    let rows = store::find_all(&app.db, network, ids).await?;
    let machines = provisioned::find_all(&app.db, network, ids).await?;
    let mut rows: HashMap<_, _> = rows.into_iter().map(|row| (row.info.server_id.clone(), row)).collect();
    let mut machines: HashMap<_, _> = machines.into_iter().map(|row| (row.server_id.clone(), row)).collect();
    let known = ids.iter().filter_map(|id| match (rows.remove(id), machines.remove(id)) {
        (Some(row), machine) => {
            Some(KnownServer::Registered(Box::new(registered(app, network, row, machine.is_some()))))
        }
        (None, Some(machine)) => Some(KnownServer::Provisioning(Box::new(machine))),
        (None, None) => None,
    });
    // Each with all its worlds.
    Ok(compute_if(ids.len() > FEW_SERVERS, || known.collect()).await)
}

/// True if the network's registry has the server: online, offline, or being provisioned.
pub async fn is_known_server(app: &App, network: NetworkId, id: &Identifier) -> Result<bool, hub_db::Error> {
    Ok(snapshot(app, network, id).is_some()
        || store::exists(&app.db, network, id).await?
        || provisioned::exists(&app.db, network, id).await?)
}

/// Numbers of the servers and of the players that are online.
pub fn online_counts(app: &App, network: NetworkId) -> (usize, usize) {
    let now = app.clock.now();
    app.state::<Presence>()
        .with(network, |presence| (presence.online(now).count(), presence.players(now, |_| true).len()))
}

/// Servers that went offline since a time, the latest first, with the times of their last heartbeats.
pub async fn offline_since(
    app: &App,
    network: NetworkId,
    since: Millis,
    most: usize,
) -> Result<Vec<(Identifier, Millis)>, ServersError> {
    let now = app.clock.now();
    let online: HashSet<_> = app
        .state::<Presence>()
        .with(network, |presence| presence.online(now).map(|server| server.info.server_id.clone()).collect());
    let mut seen = store::seen_since(&app.db, network, since, most + online.len()).await?;
    seen.retain(|(id, _)| !online.contains(id));
    seen.truncate(most);
    Ok(seen)
}

/// Servers with a text in their id or display name, by id: ids, display names, and if they are online.
pub async fn search(
    app: &App,
    network: NetworkId,
    text: &str,
    most: i64,
) -> Result<Vec<(Identifier, Option<String>, bool)>, ServersError> {
    let search = Search { text: Some(text.to_owned()), ..Search::default() };
    let (servers, _) = list(app, network, search, most, 0).await?;
    let found = servers.into_iter().map(|server| match server {
        KnownServer::Registered(server) => {
            let info = server.row.info;
            (info.server_id, info.display_name, server.live.is_some())
        }
        KnownServer::Provisioning(server) => (server.server_id, None, false),
    });
    Ok(found.collect())
}

/// Snapshot of the server, if it is online.
pub fn snapshot(app: &App, network: NetworkId, id: &Identifier) -> Option<LiveServer> {
    let now = app.clock.now();
    app.state::<Presence>().with(network, |presence| presence.server(id.as_str(), now).map(Server::snapshot))
}

/// Online servers of a type.
pub(crate) fn online_of_type(app: &App, network: NetworkId, server_type: &str) -> Vec<Identifier> {
    let now = app.clock.now();
    app.state::<Presence>().with(network, |presence| {
        let of_type = presence.online(now).filter(|server| server.info.server_type.as_str() == server_type);
        of_type.map(|server| server.info.server_id.clone()).collect()
    })
}

/// Players on a server, or in one of its worlds, by UUID.
pub fn players_on(app: &App, network: NetworkId, server_id: &str, world_id: Option<&str>) -> Vec<PlayerId> {
    let now = app.clock.now();
    let locations = app
        .state::<Presence>()
        .with(network, |presence| presence.players(now, |server| server.info.server_id.as_str() == server_id));
    let in_world = |at: &PlayerLocation| world_id.is_none() || at.world_id.as_ref().map(Identifier::as_str) == world_id;
    let mut players: Vec<_> = locations.iter().filter(|at| in_world(at)).map(|at| at.player).collect();
    players.sort_unstable();
    players
}

/// Online players in the order of their UUIDs: up to `limit` of those after `after`.
pub fn online_players(app: &App, network: NetworkId, after: Option<PlayerId>, limit: usize) -> Vec<PlayerId> {
    let now = app.clock.now();
    let locations = app.state::<Presence>().with(network, |presence| presence.players(now, |_| true));
    let is_after = |player: &PlayerId| after.is_none_or(|after| *player > after);
    let mut players: Vec<_> = locations.iter().map(|at| at.player).filter(is_after).collect();
    players.sort_unstable();
    players.truncate(limit);
    players
}

/// Removes an erased player from their server, and releases their slot, if this node owns the presence. A later
/// heartbeat that lists them records them as a new player.
pub async fn forget_player(app: &App, network: NetworkId, player: PlayerId) -> Result<(), hub_db::Error> {
    let Some(shared) = app.state::<Presence>().find(network) else { return Ok(()) };
    let now = app.clock.now();
    shared.with(|presence| {
        presence.leave(player, None, now);
        presence.release_any(player);
    });
    save(app, network).await?;
    // None are being recorded who came before.
    let _recording = shared.recording.lock().await;
    shared.with(|presence| presence.forget_unreported(player));
    Ok(())
}

/// Networks whose presence this node has.
pub(crate) fn networks(app: &App) -> Vec<NetworkId> {
    app.state::<Presence>().all().into_iter().map(|(network, _)| network).collect()
}

/// Time of the last heartbeat of each server that is online, or not swept yet.
pub(crate) fn last_heartbeats(app: &App, network: NetworkId) -> HashMap<Identifier, Millis> {
    app.state::<Presence>().with(network, |presence| {
        presence.online(Millis::MIN).map(|server| (server.info.server_id.clone(), server.last_heartbeat)).collect()
    })
}

/// Location of the player, if they are online.
pub fn online_player(app: &App, network: NetworkId, player: PlayerId) -> Option<PlayerLocation> {
    let now = app.clock.now();
    app.state::<Presence>().with(network, |presence| presence.locate(player, now))
}
