//! `/api/plugin/players/{uuid}` and its `/load`.

use std::net::IpAddr;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::{PlayersRead, PlayersWrite};
use crate::clock::Millis;
use crate::economy::Balance;
use crate::endpoints::{Endpoints, endpoints};
use crate::geo::Region;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::players::includes::{Included, Includes};
use crate::players::model::{LoadRequest, NamespaceData, Profile};
use crate::players::routes::Connection;
use crate::players::{login, profile, service};
use crate::punishments::{IpAddress, NameRight};
use crate::values::{Identifier, Label, PlayerId, blank_as_absent, not_blank};

pub(super) fn router() -> Endpoints {
    endpoints![get_player: large_answer, load_player: transactional]
}

/// A player with their stored data.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PlayerProfile {
    uuid: PlayerId,
    /// Last reported name; null until one was reported.
    #[schema(example = "Notch")]
    username: Option<String>,
    /// First reported engine; null until one was reported.
    #[schema(example = "MINECRAFT")]
    game_type: Option<String>,
    #[schema(example = 1_804_680_000_000_i64)]
    first_seen: Millis,
    /// Time at which the player was last loaded, joined a server or left one.
    #[schema(example = 1_804_680_000_000_i64)]
    last_seen: Millis,
    currencies: Vec<Balance>,
    /// Namespaces of the requested game mode.
    namespaces: Vec<NamespaceData>,
    /// Region the player is routed from; `UNKNOWN` until an address is located.
    region: Region,
    /// ISO country code of two upper-case letters.
    #[schema(example = "SE")]
    country: Option<String>,
}

impl From<Profile> for PlayerProfile {
    fn from(profile: Profile) -> Self {
        let player = profile.player;
        Self {
            uuid: player.player_uuid,
            username: player.username,
            game_type: player.game_type,
            first_seen: player.first_seen,
            last_seen: player.last_seen,
            currencies: profile.currencies,
            namespaces: profile.namespaces,
            region: player.region,
            country: player.country,
        }
    }
}

/// A player with their stored data and their location.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LivePlayerProfile)]
struct PlayerProfileNow {
    #[serde(flatten)]
    profile: PlayerProfile,
    online: bool,
    /// Null if the player is offline.
    connection: Option<Connection>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
struct ProfileQuery {
    /// Game mode of the namespaces.
    #[serde(default = "Label::global")]
    #[param(required = false, default = "global")]
    game_mode: Label,
}

/// Read a player
///
/// Fails with 404 if the UUID was never loaded and never joined a server. Reading does not create a player.
#[utoipa::path(get, path = "/api/plugin/players/{uuid}", tag = "Players", security(("apiKey" = ["players:read", "players:write", "plugin"])),
    params(("uuid" = PlayerId, Path), ProfileQuery), responses((status = 200, body = PlayerProfileNow),
        (status = 404, body = ErrorBody, description = "Unknown player")))]
async fn get_player(
    PlayersRead(caller): PlayersRead,
    State(app): State<App>,
    Path(id): Path<PlayerId>,
    Query(query): Query<ProfileQuery>,
) -> Result<Json<PlayerProfileNow>, ApiError> {
    let profile = service::profile(&app, caller.network, id, &query.game_mode).await?.into();
    let connection = Connection::find(&app, caller.network, id);
    Ok(Json(PlayerProfileNow { profile, online: connection.is_some(), connection }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
struct LoadQuery {
    /// Game mode of the namespaces.
    #[serde(default = "Label::global")]
    #[param(required = false, default = "global")]
    game_mode: Label,
    /// The player's engine, one of the hub's; the first reported one stays.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[param(value_type = Option<String>, example = "MINECRAFT")]
    game_type: Option<Identifier>,
    /// The player's address, IPv4 or IPv6: it is located and not stored. If that fails, the region stays unchanged.
    #[param(example = "203.0.113.7")]
    ip: Option<String>,
    /// The player's current name.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[param(value_type = Option<String>, example = "Notch")]
    username: Option<Identifier>,
    /// Areas to include, separated by commas: `permissions`, `punishments`, `language`, `balances`, `statistics`,
    /// `session`, `deliveries`, `login`, and any number of `data:NAMESPACE`.
    #[serde(default)]
    #[param(value_type = Option<String>, required = false, example = "permissions,punishments,language")]
    include: Includes,
}

/// A loaded player, with the included areas.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct LoadedPlayer {
    #[serde(flatten)]
    pub(super) profile: PlayerProfile,
    #[serde(flatten)]
    pub(super) included: Included,
}

/// Load a joining player
///
/// Creates the player on the first load. Punishments by the name match the player from now on, if the key has the scope
/// `punishments:write` or `plugin`.
///
/// With `include` a join is one call: each name adds a field in the form of that area's route, and requires that area's
/// scope. An answer over 4 MiB is 400 `answer_too_large`.
///
/// `login` asks the network's modules if the player may join. Whatever they answer, everything else is stored and answered
/// as ever; it is for the caller to let nobody in who is not allowed.
#[utoipa::path(post, path = "/api/plugin/players/{uuid}/load", tag = "Players", security(("apiKey" = ["players:write", "plugin"])),
    params(("uuid" = PlayerId, Path), LoadQuery), responses((status = 200, body = LoadedPlayer)))]
async fn load_player(
    PlayersWrite(caller): PlayersWrite,
    State(app): State<App>,
    Path(id): Path<PlayerId>,
    Query(query): Query<LoadQuery>,
) -> Result<Json<LoadedPlayer>, ApiError> {
    query.include.check_scopes(&caller)?;
    let ip = not_blank(query.ip.as_deref()).map(|ip| ip.trim().parse::<IpAddr>()).transpose();
    let request = LoadRequest {
        username: query.username,
        game_type: query.game_type.map(Identifier::into_string),
        ip: ip.map_err(|_| ApiError::invalid("In the query, `ip`: must be an IPv4 or IPv6 address."))?,
    };
    let (network, game_mode) = (caller.network, &query.game_mode);
    let address = request.ip.map(IpAddress::from);
    let login = if query.include.login { Some(login::check(&app, &caller, id, &request, None).await?) } else { None };
    let profile = service::load(&app, network, id, game_mode, request, NameRight::of(&caller)).await?;
    let included = profile::include(&app, network, &query.include, &profile, game_mode, address).await?;
    let included = Included { login, ..included };
    let loaded = LoadedPlayer { profile: profile.into(), included };
    profile::check_size(&loaded)?;
    Ok(Json(loaded))
}
