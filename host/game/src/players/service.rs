//! Rules of players.

use std::collections::BTreeMap;
use std::future::ready;

use axum::http::StatusCode;
use futures_util::future::{BoxFuture, FutureExt as _};
use hub_db::Tx;
use thiserror::Error;

use crate::app::App;
use crate::clock::Millis;
use crate::deliveries;
use crate::deliveries::DeliveriesError;
use crate::economy;
use crate::economy::Balance;
use crate::geo::Region;
use crate::http::error::ApiError;
use crate::limits::{self, Limit, QuotaExceeded, Usage, check_rows, check_storage, row_bytes};
use crate::owner::Owner;
use crate::player_sessions::service::Fenced;
use crate::player_sessions::{self, PlayerSession, SessionBegins, SessionError};
use crate::players::language::Language;
use crate::players::model::{
    DataKey, JsonText, LoadRequest, NamespaceData, Player, PlayerFilter, PlayerUpdate, Profile,
};
use crate::players::store::data::{DataLimits, NamespaceEntry};
use crate::players::{PlayerRegions, store};
use crate::presence::{self, Arrival};
use crate::punishments::{self, NameRight};
use crate::values::{Identifier, Label, NetworkId, PlayerId};

/// Reason for the failure of a request about players.
#[derive(Debug, Error)]
pub(super) enum PlayersError {
    /// No player with this UUID was ever seen.
    #[error("This network has never seen the player {0}.")]
    Unknown(PlayerId),
    /// No data is stored under this key.
    #[error("The player has no data in the namespace `{0}` of this game mode.")]
    NoData(String),
    /// Another write came first.
    #[error("The data no longer has version {0}; read it again and retry.")]
    VersionConflict(i64),
    /// The data is too large.
    #[error("The data is larger than the {} bytes a namespace may have.", JsonText::LIMIT)]
    TooLarge,
    /// The data of a save is too large.
    #[error("The data of the save is larger than {0} bytes.")]
    SaveTooLarge(usize),
    /// A value of a save is invalid.
    #[error("In the body, {0}.")]
    InvalidSave(String),
    /// No such snapshot.
    #[error("This namespace of the player has no snapshot {0}.")]
    NoSnapshot(i64),
    /// A claim of a delivery is not good.
    #[error(transparent)]
    Delivery(#[from] DeliveriesError),
    /// The player's session does not allow it.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The hub has no such engine.
    #[error("In the {part}, `gameType`: `{sent}` is not one of {}.", .known.join(", "))]
    UnknownEngine {
        /// Part of the request that names it.
        part: &'static str,
        sent: String,
        known: Vec<String>,
    },
    /// The network's quota is used up.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
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
            PlayersError::TooLarge | PlayersError::SaveTooLarge(_) => {
                Self::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", message)
            }
            PlayersError::InvalidSave(_) | PlayersError::UnknownEngine { .. } => Self::invalid(message),
            PlayersError::NoSnapshot(_) => Self::not_found("unknown_snapshot", message),
            PlayersError::Delivery(error) => error.into(),
            PlayersError::Session(error) => error.into(),
            PlayersError::Quota(exceeded) => exceeded.into(),
            PlayersError::Database(error) => error.into(),
        }
    }
}

/// Records a player who connects. Returns their profile. The address is used to locate them and not stored.
pub(super) async fn load(
    app: &App,
    network: NetworkId,
    id: PlayerId,
    game_mode: &Label,
    request: LoadRequest,
    right: Option<NameRight>,
) -> Result<Profile, PlayersError> {
    let update = update_of(app, request, "query")?;
    let (player, (), (currencies, namespaces)) = tokio::try_join!(
        record(app, network, id, &update),
        record_name(app, network, id, update.username.as_ref().zip(right)),
        balances_and_data(app, network, id, game_mode),
    )?;
    Ok(Profile { player, currencies, namespaces })
}

fn update_of(app: &App, request: LoadRequest, part: &'static str) -> Result<PlayerUpdate, PlayersError> {
    if let Some(engine) = &request.game_type
        && !app.settings.engines.contains(engine)
    {
        return Err(PlayersError::UnknownEngine { part, sent: engine.clone(), known: app.settings.engines.clone() });
    }
    let location = request.ip.and_then(|ip| app.geo.locate(ip));
    Ok(PlayerUpdate { username: request.username, game_type: request.game_type, location })
}

/// Refuses a server that is not online.
pub(super) fn check_online(app: &App, network: NetworkId, server: &Identifier) -> Result<(), PlayersError> {
    match presence::service::snapshot(app, network, server) {
        Some(_) => Ok(()),
        None => Err(SessionError::NotOnline(server.clone()).into()),
    }
}

/// Checks a player who connects, like [`load`]. What is to be recorded of them is stored with their session.
pub(super) async fn check_visit(
    app: &App,
    network: NetworkId,
    id: PlayerId,
    request: LoadRequest,
    right: Option<NameRight>,
) -> Result<PlayerUpdate, PlayersError> {
    let update = update_of(app, request, "body")?;
    let name = update.username.as_ref().zip(right);
    tokio::try_join!(check_known(app, network, id), record_name(app, network, id, name))?;
    Ok(update)
}

impl SessionBegins for PlayerUpdate {
    fn begun<'a>(
        &'a self,
        tx: &'a mut Tx,
        network: NetworkId,
        player: PlayerId,
        at: Millis,
    ) -> BoxFuture<'a, Result<(), hub_db::Error>> {
        async move { store::upsert(tx, network, player, self, at).await.map(drop) }.boxed()
    }
}

/// Profile of a player who has just connected.
pub(super) async fn profile_of_visit(
    app: &App,
    network: NetworkId,
    id: PlayerId,
    game_mode: &Label,
) -> Result<Profile, PlayersError> {
    let profile = profile(app, network, id, game_mode).await?;
    app.state::<PlayerRegions>().put(network, id, profile.player.region.clone());
    Ok(profile)
}

/// Refuses a player for whom the network's plan has no room.
async fn check_known(app: &App, network: NetworkId, id: PlayerId) -> Result<(), PlayersError> {
    let is_there = async { Ok(store::find(&app.db, network, id).await?.is_some()) };
    check_rows::<PlayersError>(app, network, store::KNOWN_PLAYERS, 1, is_there).await.map(drop)
}

async fn record(app: &App, network: NetworkId, id: PlayerId, update: &PlayerUpdate) -> Result<Player, PlayersError> {
    check_known(app, network, id).await?;
    let player = store::upsert(&app.db, network, id, update, app.clock.now()).await?;
    app.state::<PlayerRegions>().put(network, id, player.region.clone());
    Ok(player)
}

/// Makes punishments and deliveries of the name match the player. A failure is only logged: the next visit tries again.
async fn record_name(
    app: &App,
    network: NetworkId,
    id: PlayerId,
    name: Option<(&Identifier, NameRight)>,
) -> Result<(), PlayersError> {
    let Some((name, right)) = name else { return Ok(()) };
    if let Err(error) = punishments::service::record_name(app, right, network, id, name.as_str()).await {
        tracing::warn!(%network, %error, "could not record a player's name");
    }
    if let Err(error) = deliveries::service::bind_name(app, network, id, name.as_str()).await {
        tracing::warn!(%network, %error, "could not give a name's deliveries to a player");
    }
    Ok(())
}

async fn balances_and_data(
    app: &App,
    network: NetworkId,
    id: PlayerId,
    game_mode: &Label,
) -> Result<(Vec<Balance>, Vec<NamespaceData>), PlayersError> {
    let owner = Owner::player(id);
    Ok(tokio::try_join!(
        economy::service::balances(app, network, &owner),
        store::data::list(&app.db, network, id, game_mode),
    )?)
}

/// Times at which a player was first and last seen, if ever.
pub(crate) async fn seen(
    app: &App,
    network: NetworkId,
    id: PlayerId,
) -> Result<Option<(Millis, Millis)>, hub_db::Error> {
    let player = store::find(&app.db, network, id).await?;
    Ok(player.map(|player| (player.first_seen, player.last_seen)))
}

/// A known player.
pub(super) async fn profile(
    app: &App,
    network: NetworkId,
    id: PlayerId,
    game_mode: &Label,
) -> Result<Profile, PlayersError> {
    store::find_profile(&app.db, network, id, game_mode).await?.ok_or(PlayersError::Unknown(id))
}

/// A page of the matching players, most recently seen first, and their number.
pub(super) async fn list(
    app: &App,
    network: NetworkId,
    filter: &PlayerFilter,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Player>, i64), PlayersError> {
    Ok(store::search::list(&app.db, network, filter, limit, offset).await?)
}

/// Players with a text in their names, most recently seen first; or the one with this UUID.
pub async fn search(
    app: &App,
    network: NetworkId,
    text: &str,
    most: i64,
) -> Result<Vec<(PlayerId, Option<String>)>, hub_db::Error> {
    if let Ok(id) = text.parse::<PlayerId>() {
        let known = store::name_of(&app.db, network, id).await?;
        return Ok(known.into_iter().map(|name| (id, name)).collect());
    }
    let filter = PlayerFilter { name_part: Some(text.to_owned()), ..PlayerFilter::default() };
    let (players, _) = store::search::list(&app.db, network, &filter, most, 0).await?;
    Ok(players.into_iter().map(|player| (player.player_uuid, player.username)).collect())
}

/// Records a player who joined a server, loaded before or not. A failure is only logged: they have already been
/// admitted.
pub async fn record_join(app: &App, network: NetworkId, id: PlayerId, name: Option<&Identifier>) {
    let update = PlayerUpdate { username: name.cloned(), ..PlayerUpdate::default() };
    let named = name.map(|name| (name, NameRight::of_connector()));
    let recorded = tokio::try_join!(record(app, network, id, &update), record_name(app, network, id, named));
    if let Err(error) = recorded {
        tracing::warn!(%network, %error, "could not record that a player joined");
    }
}

/// Records players who came with a server's list, like [`record_join`]. Those for whom the network's plan has no room stay
/// unknown.
pub async fn record_arrivals(app: &App, network: NetworkId, arrivals: &[Arrival]) -> Result<(), hub_db::Error> {
    let players: Vec<_> = arrivals.iter().map(|arrival| arrival.player).collect();
    let known = store::arrivals::known(&app.db, network, &players).await?;
    let (mut seen, unseen): (Vec<_>, Vec<_>) = arrivals.iter().partition(|arrival| known.contains(&arrival.player));
    let mut adding = vec![];
    for arrival in unseen {
        match check_rows::<PlayersError>(app, network, store::KNOWN_PLAYERS, 1, ready(Ok(false))).await {
            Ok(added) => adding.push(added),
            Err(PlayersError::Database(error)) => return Err(error),
            Err(error) => {
                tracing::warn!(%network, %error, "could not record that players joined");
                break;
            }
        }
        seen.push(arrival);
    }
    if !seen.is_empty() {
        store::arrivals::upsert(&app.db, network, &seen).await?;
    }
    drop(adding);
    let named = seen.iter().filter_map(|arrival| Some((arrival.player, arrival.name.as_ref()?.as_str(), arrival.at)));
    let named: Vec<_> = named.collect();
    if named.is_empty() {
        return Ok(());
    }
    let right = NameRight::of_connector();
    if let Err(error) = punishments::service::record_names(app, right, network, &named).await {
        tracing::warn!(%network, %error, "could not record players' names");
    }
    let names: Vec<_> = named.iter().map(|(player, name, _)| (*player, *name)).collect();
    deliveries::service::bind_names(app, network, &names).await
}

/// Records that players left their servers without a report. Those of one server left at one time.
pub async fn record_departures(
    app: &App,
    network: NetworkId,
    departures: &[(PlayerId, Millis)],
) -> Result<(), hub_db::Error> {
    let mut by_time = BTreeMap::<Millis, Vec<PlayerId>>::new();
    for (player, at) in departures {
        by_time.entry(*at).or_default().push(*player);
    }
    for (at, players) in by_time {
        store::arrivals::update_last_seen(&app.db, network, &players, at).await?;
    }
    Ok(())
}

/// Records a player who was never seen; a known one stays unchanged.
async fn record_unseen(
    app: &App,
    network: NetworkId,
    id: PlayerId,
    name: Option<&Identifier>,
    right: Option<NameRight>,
) -> Result<(), PlayersError> {
    if store::find(&app.db, network, id).await?.is_some() {
        return Ok(());
    }
    let _adding = check_rows::<PlayersError>(app, network, store::KNOWN_PLAYERS, 1, ready(Ok(false))).await?;
    store::insert_unseen(&app.db, network, id, name, app.clock.now()).await?;
    record_name(app, network, id, name.zip(right)).await
}

/// Records that a player has just left their server.
pub async fn record_leave(app: &App, network: NetworkId, id: PlayerId) {
    if let Err(error) = store::update_last_seen(&app.db, network, id, app.clock.now()).await {
        tracing::warn!(%network, %error, "could not record that a player left");
    }
}

/// The region a player is routed from, if known. Reads the database only for an online player who is not in the cache,
/// which loading and joining fill.
pub(crate) async fn region_of(app: &App, network: NetworkId, id: PlayerId) -> Option<Region> {
    if let Some(region) = app.state::<PlayerRegions>().get(network, id) {
        return Some(region).filter(|region| !region.is_unknown());
    }
    presence::service::online_player(app, network, id)?;
    let found = store::find(&app.db, network, id).await.inspect_err(|error| {
        tracing::warn!(%network, %error, "could not read a player's region");
    });
    let region = found.ok()?.map_or_else(Region::unknown, |player| player.region);
    app.state::<PlayerRegions>().put(network, id, region.clone());
    Some(region).filter(|region| !region.is_unknown())
}

/// A page of what is stored about a player, without its content, and the number of namespaces.
pub(super) async fn list_namespaces(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<NamespaceEntry>, i64), PlayersError> {
    Ok(store::data::list_entries(&app.db, network, player, limit, offset).await?)
}

/// Data stored under a key.
pub(super) async fn data(app: &App, network: NetworkId, key: &DataKey) -> Result<NamespaceData, PlayersError> {
    let found = store::data::get(&app.db, network, key).await?;
    found.ok_or_else(|| PlayersError::NoData(key.namespace.to_string()))
}

/// Limits of one player's data in a game mode.
pub(super) fn data_limits(app: &App) -> DataLimits {
    DataLimits {
        namespaces: limits::bound(app, Limit::NamespacesPerPlayer),
        bytes: limits::bound(app, Limit::ProfileBytes),
    }
}

/// Writes data in a transaction, on top of any version. Returns the new version.
pub(super) async fn put_in(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    key: &DataKey,
    data: &str,
) -> Result<i64, PlayersError> {
    let (most, now) = (data_limits(app), app.clock.now());
    if let Some(version) = store::data::put(&mut *tx, network, key, data, None, most, now).await? {
        return Ok(version);
    }
    let (namespaces, bytes) = store::data::others(tx, network, key).await?;
    limits::check(app, Limit::NamespacesPerPlayer, namespaces, 1)?;
    limits::check(app, Limit::ProfileBytes, bytes, data.len() as i64)?;
    // The room was different a moment ago.
    Err(PlayersError::VersionConflict(0))
}

/// Writes on top of the version `expected`, or of any. Returns the new version.
pub(super) async fn put_data(
    app: &App,
    network: NetworkId,
    key: &DataKey,
    data: &JsonText,
    expected: Option<i64>,
    fenced: Fenced<'_>,
) -> Result<i64, PlayersError> {
    if data.as_str().len() > JsonText::LIMIT {
        return Err(PlayersError::TooLarge);
    }
    let is_there = async { Ok(store::data::get(&app.db, network, key).await?.is_some()) };
    let _adding = check_rows::<PlayersError>(app, network, store::data::DATA_ENTRIES, 1, is_there).await?;
    let bytes = row_bytes(&[key.game_mode.as_str(), key.namespace.as_str(), data.as_str()]);
    let replaced = store::data::stored_bytes(&app.db, network, key);
    check_storage::<PlayersError>(app, network, bytes, replaced).await?;
    let (most, now) = (data_limits(app), app.clock.now());
    let _ordered = fenced.begin(app).await;
    let version = if fenced.is_checked(app) {
        app.db
            .transaction(async |mut tx| {
                fenced.check_in(app, &mut tx).await?;
                let put = store::data::put(&mut tx, network, key, data.as_str(), expected, most, now);
                Ok::<_, PlayersError>(put.await?)
            })
            .await?
    } else {
        store::data::put(&app.db, network, key, data.as_str(), expected, most, now).await?
    };
    match version {
        Some(version) => Ok(version),
        None => Err(why_not_put(app, network, key, data, expected).await?),
    }
}

/// Reason for which data was not written.
pub(super) async fn why_not_put(
    app: &App,
    network: NetworkId,
    key: &DataKey,
    data: &JsonText,
    expected: Option<i64>,
) -> Result<PlayersError, PlayersError> {
    let conflict = PlayersError::VersionConflict(expected.unwrap_or_default());
    let stored = store::data::get(&app.db, network, key).await?;
    if stored.as_ref().is_some_and(|stored| expected.is_some_and(|expected| expected != stored.version)) {
        return Ok(conflict);
    }
    let (namespaces, bytes) = store::data::others(&app.db, network, key).await?;
    limits::check(app, Limit::NamespacesPerPlayer, namespaces, 1)?;
    limits::check(app, Limit::ProfileBytes, bytes, data.as_str().len() as i64)?;
    // The version, or the room, was different a moment ago.
    Ok(conflict)
}

/// Deletes the data stored under a key.
pub(super) async fn delete_data(
    app: &App,
    network: NetworkId,
    key: &DataKey,
    fenced: Fenced<'_>,
) -> Result<(), PlayersError> {
    let _ordered = fenced.begin(app).await;
    let deleted = if fenced.is_checked(app) {
        app.db
            .transaction(async |mut tx| {
                fenced.check_in(app, &mut tx).await?;
                Ok::<_, PlayersError>(store::data::delete(&mut tx, network, key).await?)
            })
            .await?
    } else {
        store::data::delete(&app.db, network, key).await?
    };
    if deleted {
        app.state::<Usage>().removed(network, Limit::DataEntries, 1);
        return Ok(());
    }
    Err(PlayersError::NoData(key.namespace.to_string()))
}

/// A player's newest session.
pub(super) async fn session(
    app: &App,
    network: NetworkId,
    player: PlayerId,
) -> Result<Option<PlayerSession>, PlayersError> {
    Ok(player_sessions::service::shown(app, network, player).await?.map(PlayerSession::from))
}

/// A player's language.
pub(super) async fn language(app: &App, network: NetworkId, player: PlayerId) -> Result<Language, PlayersError> {
    Ok(store::languages::get(&app.db, network, player).await?)
}

/// Stores a player's language, or that there is none. One who was never seen is known from now on.
pub(super) async fn set_language(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    (username, right): (Option<&Identifier>, Option<NameRight>),
    language: Language,
) -> Result<Language, PlayersError> {
    record_unseen(app, network, player, username, right).await?;
    let is_there = store::languages::exists(&app.db, network, player);
    let _adding = check_rows::<PlayersError>(app, network, store::languages::PLAYER_LANGUAGES, 1, is_there).await?;
    store::languages::put(&app.db, network, player, username.map(Identifier::as_str), &language).await?;
    Ok(language)
}
