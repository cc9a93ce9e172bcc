//! The rules of servers and presence.

use std::collections::HashMap;
use std::net::IpAddr;

use thiserror::Error;

use crate::app::App;
use crate::clock::{Millis, millis};
use crate::control;
use crate::geo::{GeoLocation, Region};
use crate::http::error::ApiError;
use crate::networks;
use crate::networks::service::NetworksError;
use crate::players;
use crate::servers::model::{Heartbeat, Location, Registered, Registration};
use crate::servers::presence::{Server, Unplaced};
use crate::servers::provisioned::{self, ProvisionedServer};
use crate::servers::saving::save;
use crate::servers::snapshot::LiveServer;
use crate::servers::store;
use crate::transfers;
use crate::values::{Identifier, NetworkId, PlayerId};

pub use crate::servers::saving::save_all;

/// How often a server is to send a heartbeat, in milliseconds, unless it would be offline soon after.
const HEARTBEAT_INTERVAL: Millis = 5_000;

/// What can be wrong with a request about servers.
#[derive(Debug, Error)]
pub enum ServersError {
    /// The hub does not know that the server is online.
    #[error("The server `{0}` is not online as far as the hub knows; it must register first.")]
    NotOnline(Identifier),
    /// The player is not on that server.
    #[error("The player {0} is not on the server `{1}`.")]
    NotOnServer(PlayerId, Identifier),
    /// There is no such server in the registry.
    #[error("This network has no server `{0}`.")]
    Unknown(Identifier),
    /// The engine is none of the hub's.
    #[error("In the body, `gameType`: `{sent}` is none of {}.", .known.join(", "))]
    UnknownEngine {
        /// What was sent.
        sent: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The network is gone.
    #[error(transparent)]
    Network(#[from] NetworksError),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<ServersError> for ApiError {
    fn from(error: ServersError) -> Self {
        let message = error.to_string();
        match error {
            ServersError::NotOnline(_) => Self::bad_request("unknown_server", message),
            ServersError::NotOnServer(..) => Self::bad_request("player_not_on_server", message),
            ServersError::Unknown(_) => Self::not_found("unknown_server", message),
            ServersError::UnknownEngine { .. } => Self::invalid(message),
            ServersError::Network(error) => error.into(),
            ServersError::Database(error) => error.into(),
        }
    }
}

/// What a server that registered is told.
#[derive(Debug)]
pub(super) struct Welcome {
    pub(super) server_id: Identifier,
    pub(super) heartbeat_interval: Millis,
    pub(super) offline_after: Millis,
    pub(super) signing_secret: String,
}

/// A server is there.
pub(super) async fn register(app: &App, network: NetworkId, new: Registration) -> Result<Welcome, ServersError> {
    if let Some(engine) = &new.facts.game_type
        && !app.settings.engines.contains(engine)
    {
        return Err(ServersError::UnknownEngine { sent: engine.clone(), known: app.settings.engines.clone() });
    }
    let signing_secret = networks::service::signing_secret(app, network).await?;
    let server_id = new.facts.server_id.clone();
    let offline_after = millis(app.settings.offline_after());
    app.presence.with(network, |presence| presence.register(new, app.clock.now(), offline_after));
    save(app, network).await?;
    let heartbeat_interval = HEARTBEAT_INTERVAL.min(offline_after / 3).max(1);
    Ok(Welcome { server_id, heartbeat_interval, offline_after, signing_secret })
}

/// Where a server is: the first of its addresses that GeoIP knows decides, its own word for the region before that.
pub(super) fn place(app: &App, said: Option<Region>, addresses: impl IntoIterator<Item = IpAddr>) -> GeoLocation {
    let found = addresses.into_iter().find_map(|address| app.geo.locate(address));
    match (said, found) {
        (Some(region), found) => GeoLocation { region, country: found.and_then(|place| place.country) },
        (None, Some(place)) => place,
        (None, None) => GeoLocation::unknown(),
    }
}

/// A server is still there. In memory alone: nothing of it is lost for longer than the next beat takes to come.
pub(super) fn heartbeat(app: &App, network: NetworkId, beat: Heartbeat) -> Result<(), ServersError> {
    let id = beat.server_id.clone();
    let offline_after = millis(app.settings.offline_after());
    app.presence
        .with(network, |presence| presence.heartbeat(beat, app.clock.now(), offline_after))
        .map_err(|_| ServersError::NotOnline(id))
}

/// A server shuts down; one that is not there already has.
pub(super) async fn unregister(app: &App, network: NetworkId, id: &Identifier) -> Result<(), ServersError> {
    app.presence.with(network, |presence| presence.unregister(id.as_str(), app.clock.now()));
    Ok(save(app, network).await?)
}

/// A player has come to a server.
pub(super) async fn join(
    app: &App,
    network: NetworkId,
    server: Identifier,
    player: PlayerId,
    name: Option<Identifier>,
) -> Result<(), ServersError> {
    let (said, at) = (name.clone(), server.clone());
    app.presence
        .with(network, |presence| presence.join(&server, player, name, app.clock.now()))
        .map_err(|_| ServersError::NotOnline(server))?;
    save(app, network).await?;
    // The player is there all the same, should one of these fail.
    if let Err(error) = transfers::service::arrived(app, network, player, &at).await {
        tracing::warn!(%network, %error, "the arrival of a player was not noted as the end of their transfer");
    }
    players::service::record_join(app, network, player, said.as_ref()).await;
    Ok(())
}

/// A player went to another world of the server they are on.
pub(super) async fn change_world(
    app: &App,
    network: NetworkId,
    server: Identifier,
    player: PlayerId,
    to: Identifier,
    from: Option<Identifier>,
) -> Result<(), ServersError> {
    app.presence.with(network, |presence| presence.change_world(&server, player, to, from, app.clock.now())).map_err(
        |unplaced| match unplaced {
            Unplaced::UnknownServer => ServersError::NotOnline(server),
            Unplaced::NotOnServer => ServersError::NotOnServer(player, server),
        },
    )?;
    Ok(save(app, network).await?)
}

/// A player has left that server, or whichever they are on. One who is elsewhere by now stays there. One who is being
/// transferred away from it has not left the network: their join at the target makes it one switch.
pub(super) async fn leave(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    server: Option<&Identifier>,
) -> Result<(), ServersError> {
    let here = online_player(app, network, player).map(|at| at.server_id);
    let here = here.filter(|at| server.is_none_or(|server| server == at));
    if let Some(at) = &here
        && let Some(until) = transfers::service::leaves_for_another(app, network, player, at).await?
    {
        app.presence.with(network, |presence| presence.leave_for_another(player, at, until));
        return Ok(());
    }
    app.presence.with(network, |presence| presence.leave(player, server));
    save(app, network).await?;
    if here.is_some() {
        players::service::record_leave(app, network, player).await;
    }
    Ok(())
}

/// The players online, on servers of one type or on all, by server and then by UUID.
pub(super) fn players(app: &App, network: NetworkId, server_type: Option<&str>) -> Vec<Location> {
    let now = app.clock.now();
    let mut players = app.presence.with(network, |presence| {
        presence.players(now, |server| server_type.is_none_or(|kind| kind == server.facts.server_type.as_str()))
    });
    players.sort_unstable_by(|a, b| (&a.server_id, a.player).cmp(&(&b.server_id, b.player)));
    players
}

/// A registry row joined with presence.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) registered: Registered,
    pub(super) live: Option<LiveServer>,
    /// Its event stream is open.
    pub(super) connected: bool,
    /// What its node agent says.
    pub(super) control: Option<control::Report>,
    /// Its machine was made by a provisioner.
    pub(super) provisioned: bool,
}

/// A server as lists know it.
#[derive(Debug)]
pub(super) enum Listed {
    /// It has registered.
    Registered(Box<Record>),
    /// Its machine is being made.
    Waiting(Box<ProvisionedServer>),
}

fn record(app: &App, network: NetworkId, mut registered: Registered, provisioned: bool) -> Record {
    let id = registered.facts.server_id.clone();
    let now = app.clock.now();
    let live = app.presence.with(network, |presence| {
        let server = presence.server(id.as_str(), now)?;
        registered.facts = (*server.facts).clone();
        registered.last_seen = server.last_heartbeat;
        Some(server.snapshot())
    });
    let connected = app.bus.is_connected(network.0.as_u128(), id.as_str());
    let control = control::service::report(app, network, &id);
    Record { registered, live, connected, control, provisioned }
}

/// Which servers a list shall have; what is none does not count.
#[derive(Debug, Default)]
pub(super) struct Search {
    pub(super) server_type: Option<String>,
    pub(super) region: Option<Region>,
    pub(super) text: Option<String>,
    pub(super) online: Option<bool>,
}

/// The servers of the registry by id, those that are being made among them, and how many there are.
pub(super) async fn list(
    app: &App,
    network: NetworkId,
    search: Search,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Listed>, i64), ServersError> {
    let online = search.online.map(|wanted| {
        let now = app.clock.now();
        let ids = app.presence.with(network, |presence| {
            presence.online(now).map(|server| server.facts.server_id.clone()).collect::<Vec<_>>()
        });
        (wanted, ids)
    });
    let filter = store::Filter { server_type: search.server_type, region: search.region, search: search.text, online };
    let (ids, total) = store::list(&app.db, network, filter, limit, offset).await?;
    Ok((read(app, network, &ids).await?, total))
}

/// A server of the registry.
pub(super) async fn get(app: &App, network: NetworkId, id: Identifier) -> Result<Listed, ServersError> {
    let found = read(app, network, std::slice::from_ref(&id)).await?;
    found.into_iter().next().ok_or(ServersError::Unknown(id))
}

/// These servers in this order, as far as they are there.
async fn read(app: &App, network: NetworkId, ids: &[Identifier]) -> Result<Vec<Listed>, ServersError> {
    if ids.is_empty() {
        return Ok(vec![]);
    }
    let rows = store::find_all(&app.db, network, ids).await?;
    let made = provisioned::among(&app.db, network, ids).await?;
    let mut rows: HashMap<_, _> = rows.into_iter().map(|row| (row.facts.server_id.clone(), row)).collect();
    let mut made: HashMap<_, _> = made.into_iter().map(|row| (row.server_id.clone(), row)).collect();
    let listed = ids.iter().filter_map(|id| match (rows.remove(id), made.remove(id)) {
        (Some(row), made) => Some(Listed::Registered(Box::new(record(app, network, row, made.is_some())))),
        (None, Some(made)) => Some(Listed::Waiting(Box::new(made))),
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
