//! The rules of players.

use std::net::IpAddr;

use axum::http::StatusCode;
use thiserror::Error;

use crate::app::App;
use crate::economy;
use crate::economy::Balance;
use crate::geo::Region;
use crate::http::error::ApiError;
use crate::players::model::{Entry, JsonText, Player, Search, Sighting};
use crate::players::store;
pub(super) use crate::players::store::data::Place;
use crate::punishments;
use crate::servers;
use crate::values::{Identifier, Label, NetworkId, PlayerId};

/// What can be wrong with a request about players.
#[derive(Debug, Error)]
pub enum PlayersError {
    /// Nobody of this UUID was ever seen.
    #[error("This network has never seen the player {0}.")]
    Unknown(PlayerId),
    /// Nothing was written there.
    #[error("The player has no data in the namespace `{0}` of this game mode.")]
    NoData(String),
    /// Somebody else was quicker.
    #[error("The data has another version by now than {0}; read it again and retry.")]
    VersionConflict(i64),
    /// The data is too large.
    #[error("The data is larger than the {} bytes a namespace may have.", JsonText::LIMIT)]
    TooLarge,
    /// The engine is none of the hub's.
    #[error("In the query, `gameType`: `{sent}` is none of {}.", .known.join(", "))]
    UnknownEngine {
        /// What was sent.
        sent: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<PlayersError> for ApiError {
    fn from(error: PlayersError) -> Self {
        let message = error.to_string();
        match error {
            PlayersError::Unknown(_) => Self::not_found("unknown_player", message),
            PlayersError::NoData(_) => Self::not_found("unknown_namespace", message),
            PlayersError::VersionConflict(_) => Self::new(StatusCode::CONFLICT, "version_conflict", message),
            PlayersError::TooLarge => Self::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", message),
            PlayersError::UnknownEngine { .. } => Self::invalid(message),
            PlayersError::Database(error) => error.into(),
        }
    }
}

/// A player with what is kept for them.
#[derive(Debug)]
pub(super) struct Profile {
    pub(super) player: Player,
    pub(super) currencies: Vec<Balance>,
    /// Those of one game mode.
    pub(super) namespaces: Vec<Entry>,
}

/// What a connector says of a player who comes.
#[derive(Debug)]
pub(super) struct Visit {
    pub(super) username: Option<Identifier>,
    pub(super) game_type: Option<String>,
    pub(super) ip: Option<IpAddr>,
}

/// A player comes: they are known from now on. The address is looked up and forgotten.
pub(super) async fn load(
    app: &App,
    network: NetworkId,
    id: PlayerId,
    game_mode: &Label,
    visit: Visit,
) -> Result<Profile, PlayersError> {
    if let Some(engine) = &visit.game_type
        && !app.settings.engines.contains(engine)
    {
        return Err(PlayersError::UnknownEngine { sent: engine.clone(), known: app.settings.engines.clone() });
    }
    let place = visit.ip.and_then(|ip| app.geo.locate(ip));
    let seen = Sighting { username: visit.username, game_type: visit.game_type, place };
    let (player, (), (currencies, namespaces)) = tokio::try_join!(
        note(app, network, id, &seen),
        note_name(app, network, id, seen.username.as_ref()),
        kept(app, network, id, game_mode),
    )?;
    Ok(Profile { player, currencies, namespaces })
}

/// Notes a player who is seen.
async fn note(app: &App, network: NetworkId, id: PlayerId, seen: &Sighting) -> Result<Player, PlayersError> {
    let player = store::note(&app.db, network, id, seen, app.clock.now()).await?;
    app.player_regions.put(network, id, player.region.clone());
    Ok(player)
}

/// So that what was made by that name matches the player. Should it fail, the next visit notes it.
async fn note_name(app: &App, network: NetworkId, id: PlayerId, name: Option<&Identifier>) -> Result<(), PlayersError> {
    if let Some(name) = name
        && let Err(error) = punishments::service::note_name(app, network, id, name.as_str()).await
    {
        tracing::warn!(%network, %error, "the name of a player was not noted");
    }
    Ok(())
}

async fn kept(
    app: &App,
    network: NetworkId,
    id: PlayerId,
    game_mode: &Label,
) -> Result<(Vec<Balance>, Vec<Entry>), PlayersError> {
    let owner = crate::owner::Owner::player(id);
    Ok(tokio::try_join!(
        economy::service::balances(app, network, &owner),
        store::data::all(&app.db, network, id, game_mode),
    )?)
}

/// A player who was seen.
pub(super) async fn profile(
    app: &App,
    network: NetworkId,
    id: PlayerId,
    game_mode: &Label,
) -> Result<Profile, PlayersError> {
    let player = store::find(&app.db, network, id).await?.ok_or(PlayersError::Unknown(id))?;
    let (currencies, namespaces) = kept(app, network, id, game_mode).await?;
    Ok(Profile { player, currencies, namespaces })
}

/// One page of the players who are wanted, most recently seen first, and how many they are.
pub(super) async fn list(
    app: &App,
    network: NetworkId,
    search: &Search,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Player>, i64), PlayersError> {
    Ok(store::search::list(&app.db, network, search, limit, offset).await?)
}

/// A player came to a server: they are known from now on, whether or not they were loaded before. For the room through
/// which they come, which has let them in already.
pub(crate) async fn note_join(app: &App, network: NetworkId, id: PlayerId, name: Option<&Identifier>) {
    let seen = Sighting { username: name.cloned(), ..Sighting::default() };
    let noted = tokio::try_join!(note(app, network, id, &seen), note_name(app, network, id, name));
    if let Err(error) = noted {
        tracing::warn!(%network, %error, "a player who joined was not noted");
    }
}

/// A player left the server they were on.
pub(crate) async fn note_leave(app: &App, network: NetworkId, id: PlayerId) {
    if let Err(error) = store::note_left(&app.db, network, id, app.clock.now()).await {
        tracing::warn!(%network, %error, "when a player left was not noted");
    }
}

/// Where a player is routed from, if that is known. It asks the database only for a player who is online and was not
/// asked for lately: who loads or joins is remembered.
pub(crate) async fn region_of(app: &App, network: NetworkId, id: PlayerId) -> Option<Region> {
    if let Some(region) = app.player_regions.get(network, id) {
        return Some(region).filter(|region| !region.is_unknown());
    }
    servers::service::online_player(app, network, id)?;
    let found = store::find(&app.db, network, id).await.inspect_err(|error| {
        tracing::warn!(%network, %error, "a player's region could not be read");
    });
    let region = found.ok()?.map_or_else(Region::unknown, |player| player.region);
    app.player_regions.put(network, id, region.clone());
    Some(region).filter(|region| !region.is_unknown())
}

/// What was written there.
pub(super) async fn data(app: &App, network: NetworkId, at: &Place) -> Result<Entry, PlayersError> {
    let found = store::data::get(&app.db, network, at).await?;
    found.ok_or_else(|| PlayersError::NoData(at.namespace.as_str().to_owned()))
}

/// Writes on top of the version `expected`, or of whatever there is; the new version.
pub(super) async fn put_data(
    app: &App,
    network: NetworkId,
    at: &Place,
    data: &JsonText,
    expected: Option<i64>,
) -> Result<i64, PlayersError> {
    if data.as_str().len() > JsonText::LIMIT {
        return Err(PlayersError::TooLarge);
    }
    let version = store::data::put(&app.db, network, at, data.as_str(), expected, app.clock.now()).await?;
    version.ok_or(PlayersError::VersionConflict(expected.unwrap_or_default()))
}

/// Deletes what was written there.
pub(super) async fn delete_data(app: &App, network: NetworkId, at: &Place) -> Result<(), PlayersError> {
    if store::data::delete(&app.db, network, at).await? {
        return Ok(());
    }
    Err(PlayersError::NoData(at.namespace.as_str().to_owned()))
}
