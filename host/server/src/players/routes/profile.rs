//! `/api/plugin/players/{uuid}` and its `/load`.

use std::net::IpAddr;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::PlayersWrite;
use crate::clock::Millis;
use crate::economy::Balance;
use crate::endpoints::{Endpoints, endpoints};
use crate::geo::Region;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::players::includes::{Included, Includes};
use crate::players::model::{LoadRequest, NamespaceData, Profile};
use crate::players::routes::Connection;
use crate::players::{profile, service};
use crate::punishments::IpAddress;
use crate::values::{Identifier, Label, PlayerId, blank_as_absent, not_blank};

pub(super) fn router() -> Endpoints {
    endpoints![get_player: large_answer, load_player: transactional]
}

/// A player with what is kept for them.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PlayerProfile {
    uuid: PlayerId,
    /// The name last said; null until one was.
    #[schema(example = "Notch")]
    username: Option<String>,
    /// The engine first said; null until one was.
    #[schema(example = "MINECRAFT")]
    game_type: Option<String>,
    #[schema(example = 1_804_680_000_000_i64)]
    first_seen: Millis,
    /// When the player was last loaded, joined a server or left one.
    #[schema(example = 1_804_680_000_000_i64)]
    last_seen: Millis,
    currencies: Vec<Balance>,
    /// Those of the game mode asked for.
    namespaces: Vec<NamespaceData>,
    /// Where the player is routed from; `UNKNOWN` until an address could be located.
    region: Region,
    /// Two upper-case letters.
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

/// A player with what is kept for them, and where they are.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LivePlayerProfile)]
struct PlayerProfileNow {
    #[serde(flatten)]
    profile: PlayerProfile,
    online: bool,
    /// Null for one who is offline.
    connection: Option<Connection>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
struct ProfileQuery {
    /// Whose namespaces are wanted.
    #[serde(default = "Label::global")]
    #[param(required = false, default = "global")]
    game_mode: Label,
}

/// Read a player
///
/// 404 where the UUID was never seen: neither loaded nor joined a server. Reading makes nobody known.
#[utoipa::path(get, path = "/api/plugin/players/{uuid}", tag = "Players", security(("apiKey" = ["players:write", "plugin"])),
    params(("uuid" = PlayerId, Path), ProfileQuery), responses((status = 200, body = PlayerProfileNow),
        (status = 404, body = ErrorBody, description = "Never seen")))]
async fn get_player(
    PlayersWrite(caller): PlayersWrite,
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
    /// Whose namespaces are wanted.
    #[serde(default = "Label::global")]
    #[param(required = false, default = "global")]
    game_mode: Label,
    /// The player's engine, one of the hub's; the first that is said stays.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[param(value_type = Option<String>, example = "MINECRAFT")]
    game_type: Option<Identifier>,
    /// The player's address, IPv4 or IPv6: it is looked up for the region and not kept. One that can't be located leaves
    /// the region as it was.
    #[param(example = "203.0.113.7")]
    ip: Option<String>,
    /// The player's name as it is now.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[param(value_type = Option<String>, example = "Notch")]
    username: Option<Identifier>,
    /// What to answer besides, with commas between: `permissions`, `punishments`, `language`, `balances`, `statistics`, and
    /// `data:NAMESPACE`, as often as needed.
    #[serde(default)]
    #[param(value_type = Option<String>, required = false, example = "permissions,punishments,language")]
    include: Includes,
}

/// A player who was loaded, with what was to be included.
#[derive(Debug, Serialize, ToSchema)]
struct LoadedPlayer {
    #[serde(flatten)]
    profile: PlayerProfile,
    #[serde(flatten)]
    included: Included,
}

/// Load a player who joins
///
/// Makes a player who was never seen known. Punishments that were made by the name match the player from now on.
///
/// `include` makes a join one call: each of its names adds a field, which is what the route of that area answers, and needs the
/// scope of that area. An answer over 4 MiB is 400 `answer_too_large`.
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
    let profile = service::load(&app, network, id, game_mode, request).await?;
    let included = profile::include(&app, network, &query.include, &profile, game_mode, address).await?;
    let loaded = LoadedPlayer { profile: profile.into(), included };
    profile::check_size(&loaded)?;
    Ok(Json(loaded))
}
