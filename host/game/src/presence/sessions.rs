//! Sessions of servers and of the players on them: register, heartbeat, join, change world, leave.

use std::net::IpAddr;

use thiserror::Error;

use crate::app::App;
use crate::auth::Caller;
use crate::clock::{Millis, millis};
use crate::geo::{GeoLocation, Region};
use crate::http::error::ApiError;
use crate::limits::{self, QuotaExceeded};
use crate::presence::service::online_player;
use crate::presence::{
    self, AgentReport, Heartbeat, Hooks, KnownServer, PlayerLocation, Presence, PresenceError, Registration, Search,
    ServersError,
};
use crate::secret_text::SecretText;
use crate::signing_secret;
use crate::signing_secret::service::SigningSecretError;
use crate::values::{Identifier, NetworkId, PlayerId};

/// Interval of a server's heartbeats in milliseconds; shorter if the offline time is close to it.
const HEARTBEAT_INTERVAL: Millis = 5_000;

/// Reason for the failure of a server's request about itself or its players.
#[derive(Debug, Error)]
pub(super) enum SessionsError {
    /// The server is not online.
    #[error("The server `{0}` is not online; register it first.")]
    NotOnline(Identifier),
    /// The player is not on that server.
    #[error("The player {0} is not on the server `{1}`.")]
    NotOnServer(PlayerId, Identifier),
    /// The engine is not configured at the hub.
    #[error("In the body, `gameType`: `{sent}` is not one of {}.", .known.join(", "))]
    UnknownEngine {
        /// The engine in the request.
        sent: String,
        /// The engines in the settings.
        known: Vec<String>,
    },
    /// The network's quota is used up.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// The network no longer exists.
    #[error(transparent)]
    SigningSecret(#[from] SigningSecretError),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<SessionsError> for ApiError {
    fn from(error: SessionsError) -> Self {
        let message = error.to_string();
        match error {
            SessionsError::NotOnline(_) => Self::bad_request("unknown_server", message),
            SessionsError::NotOnServer(..) => Self::bad_request("player_not_on_server", message),
            SessionsError::UnknownEngine { .. } => Self::invalid(message),
            SessionsError::Quota(exceeded) => exceeded.into(),
            SessionsError::SigningSecret(error) => error.into(),
            SessionsError::Database(error) => error.into(),
        }
    }
}

/// Session of a registered server.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) server_id: Identifier,
    pub(super) heartbeat_interval: Millis,
    pub(super) offline_after: Millis,
    pub(super) signing_secret: SecretText,
}

/// Registers a server and marks it online.
pub(super) async fn register(app: &App, network: NetworkId, new: Registration) -> Result<Session, SessionsError> {
    if let Some(engine) = &new.info.game_type
        && !app.settings.engines.contains(engine)
    {
        return Err(SessionsError::UnknownEngine { sent: engine.clone(), known: app.settings.engines.clone() });
    }
    let signing_secret = signing_secret::service::get(app, network).await?.newest;
    let server_id = new.info.server_id.clone();
    let offline_after = millis(app.settings.offline_after());
    let limits = limits::of(app, network).await?;
    let now = app.clock.now();
    let is_new = app.state::<Presence>().with(network, |presence| {
        presence.check_registration(&new, &limits, now)?;
        let is_new = presence.server(server_id.as_str(), now).is_none();
        presence.register(new, now, offline_after);
        Ok::<_, QuotaExceeded>(is_new)
    })?;
    if is_new {
        presence::service::make_room(app, network, &server_id).await?;
    }
    presence::save(app, network).await?;
    let heartbeat_interval = HEARTBEAT_INTERVAL.min(offline_after / 3).max(1);
    Ok(Session { server_id, heartbeat_interval, offline_after, signing_secret })
}

/// Location of a server: the region it names, else the first of its addresses known to GeoIP.
pub(super) fn locate(app: &App, region: Option<Region>, addresses: impl IntoIterator<Item = IpAddr>) -> GeoLocation {
    let found = addresses.into_iter().find_map(|address| app.geo.locate(address));
    match (region, found) {
        (Some(region), found) => GeoLocation { region, country: found.and_then(|place| place.country) },
        (None, Some(place)) => place,
        (None, None) => GeoLocation::unknown(),
    }
}

/// Keeps a server online, in memory only: the next heartbeat restores losses of a crash. A report above the network's
/// limits is refused, but still counts as a sign of life.
pub(super) async fn heartbeat(app: &App, network: NetworkId, heartbeat: Heartbeat) -> Result<(), SessionsError> {
    let id = heartbeat.server_id.clone();
    let offline_after = millis(app.settings.offline_after());
    let limits = limits::of(app, network).await?;
    let now = app.clock.now();
    app.state::<Presence>().with(network, |presence| {
        let checked = presence.check_heartbeat(&heartbeat, &limits, now);
        let noted = if checked.is_ok() { heartbeat } else { Heartbeat::sign_of_life(id.clone()) };
        presence.heartbeat(noted, now, offline_after).map_err(|_| SessionsError::NotOnline(id))?;
        checked.map_err(SessionsError::from)
    })
}

/// Marks a server offline; no effect if it is not online.
pub(super) async fn unregister(app: &App, network: NetworkId, id: &Identifier) -> Result<(), SessionsError> {
    app.state::<Presence>().with(network, |presence| presence.unregister(id.as_str(), app.clock.now()));
    Ok(presence::save(app, network).await?)
}

/// Puts a player on a server.
pub(super) async fn join(
    app: &App,
    network: NetworkId,
    server: &Identifier,
    player: PlayerId,
    name: Option<Identifier>,
) -> Result<(), SessionsError> {
    let limits = limits::of(app, network).await?;
    let now = app.clock.now();
    app.state::<Presence>().with(network, |presence| {
        presence.check_join(server, player, &limits, now)?;
        let joined = presence.join(server, player, name.clone(), now);
        joined.map_err(|_| SessionsError::NotOnline(server.clone()))
    })?;
    presence::save(app, network).await?;
    // The join counts even if this fails.
    app.state::<Hooks>().0.joined(app, network, player, name.as_ref(), server).await;
    Ok(())
}

/// Moves a player to another world of the server they are on.
pub(super) async fn change_world(
    app: &App,
    network: NetworkId,
    server: Identifier,
    player: PlayerId,
    to: Identifier,
    from: Option<Identifier>,
) -> Result<(), SessionsError> {
    app.state::<Presence>()
        .with(network, |presence| presence.change_world(&server, player, to, from, app.clock.now()))
        .map_err(|error| match error {
            PresenceError::UnknownServer => SessionsError::NotOnline(server),
            PresenceError::NotOnServer => SessionsError::NotOnServer(player, server),
        })?;
    Ok(presence::save(app, network).await?)
}

/// Removes a player from that server, or from their current one. A player who is elsewhere by now stays there. A player
/// leaving in a transfer has not left the network: their join at the target completes one switch.
pub(super) async fn leave(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    server: Option<&Identifier>,
    caller: &Caller,
) -> Result<(), SessionsError> {
    let here = online_player(app, network, player).map(|at| at.server_id);
    if here.is_some() && !caller.acts_on(here.as_ref()) {
        // By now they are on a server that is not the key's.
        return Ok(());
    }
    let here = here.filter(|at| server.is_none_or(|server| server == at));
    if let Some(at) = &here
        && let Some(until) = app.state::<Hooks>().0.arrival_deadline(app, network, player, at).await?
    {
        let now = app.clock.now();
        app.state::<Presence>().with(network, |presence| presence.leave_in_transfer(player, at, until, now));
        return Ok(());
    }
    app.state::<Presence>().with(network, |presence| presence.leave(player, server, app.clock.now()));
    presence::save(app, network).await?;
    if here.is_some() {
        app.state::<Hooks>().0.left(app, network, player).await;
    }
    Ok(())
}

/// Online players, on servers of one type or on all, by server and then by UUID.
pub(super) fn players(app: &App, network: NetworkId, server_type: Option<&str>) -> Vec<PlayerLocation> {
    let now = app.clock.now();
    let mut players = app.state::<Presence>().with(network, |presence| {
        presence.players(now, |server| server_type.is_none_or(|kind| kind == server.info.server_type.as_str()))
    });
    players.sort_unstable_by(|a, b| (&a.server_id, a.player).cmp(&(&b.server_id, b.player)));
    players
}

/// Connections of the hub to a server.
#[derive(Debug)]
pub(super) struct Reachability {
    /// True if its event stream is open.
    pub(super) connected: bool,
    /// Last report of its node agent, while one polls.
    pub(super) control: Option<AgentReport>,
}

/// Servers that a search finds, by id, and their number.
pub(super) async fn list(
    app: &App,
    network: NetworkId,
    search: Search,
    limit: i64,
    offset: i64,
) -> Result<(Vec<(KnownServer, Reachability)>, i64), ServersError> {
    let (servers, total) = presence::service::list(app, network, search, limit, offset).await?;
    let servers = servers.into_iter().map(|server| {
        let reachability = reachability(app, network, server.id());
        (server, reachability)
    });
    Ok((servers.collect(), total))
}

/// A server of the registry.
pub(super) async fn get(
    app: &App,
    network: NetworkId,
    id: Identifier,
) -> Result<(KnownServer, Reachability), ServersError> {
    let reachability = reachability(app, network, &id);
    Ok((presence::service::get(app, network, id).await?, reachability))
}

fn reachability(app: &App, network: NetworkId, id: &Identifier) -> Reachability {
    let connected = app.bus.is_connected(network.0.as_u128(), id.as_str());
    Reachability { connected, control: app.state::<Hooks>().0.agent_report(app, network, id) }
}
