//! The list of players.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::Connection;
use crate::app::App;
use crate::auth::PlayersRead;
use crate::clock::Millis;
use crate::endpoints::{Endpoints, endpoints};
use crate::geo::Region;
use crate::http::error::ApiError;
use crate::http::extract::{Json, Query};
use crate::http::page::{Limit, Page, PageNumber};
use crate::players::model::{Player, PlayerFilter};
use crate::players::service;
use crate::values::{NetworkId, PlayerId, blank_as_absent, not_blank};

pub(super) fn router() -> Endpoints {
    endpoints![list_players]
}

/// A player in a list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PlayerSummary {
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
    online: bool,
    /// Null if the player is offline.
    connection: Option<Connection>,
    /// Region the player is routed from; `UNKNOWN` until an address is located.
    region: Region,
    /// ISO country code of two upper-case letters.
    #[schema(example = "SE")]
    country: Option<String>,
}

impl PlayerSummary {
    fn new(app: &App, network: NetworkId, player: Player) -> Self {
        let connection = Connection::find(app, network, player.player_uuid);
        Self {
            uuid: player.player_uuid,
            username: player.username,
            game_type: player.game_type,
            first_seen: player.first_seen,
            last_seen: player.last_seen,
            online: connection.is_some(),
            connection,
            region: player.region,
            country: player.country,
        }
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
struct ListQuery {
    #[serde(default)]
    #[param(inline, required = false)]
    limit: Limit,
    #[serde(default)]
    #[param(inline, required = false)]
    page: PageNumber,
    /// Only players routed from this region.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[param(value_type = Option<String>, example = "EUROPE")]
    region: Option<Region>,
    /// Part of the name, case-insensitive. Fewer than three characters are searched among the 10,000 players seen last.
    #[param(example = "otc")]
    search: Option<String>,
    /// Whole name, case-insensitive.
    #[param(example = "Notch")]
    username: Option<String>,
}

/// List the players
///
/// All players ever seen, last seen first, without their stored data.
#[utoipa::path(get, path = "/api/plugin/players", tag = "Players", security(("apiKey" = ["players:read", "players:write", "plugin"])),
    params(ListQuery), responses((status = 200, body = Page<PlayerSummary>)))]
async fn list_players(
    PlayersRead(caller): PlayersRead,
    State(app): State<App>,
    Query(query): Query<ListQuery>,
) -> Result<Json<Page<PlayerSummary>>, ApiError> {
    let filter = PlayerFilter {
        region: query.region,
        username: not_blank(query.username.as_deref()).map(str::to_owned),
        name_part: not_blank(query.search.as_deref()).map(str::to_owned),
    };
    let offset = query.page.offset(query.limit);
    let (players, total) = service::list(&app, caller.network, &filter, query.limit.0, offset).await?;
    let page = Page::new(players, query.page, query.limit, total);
    Ok(Json(page.map(|player| PlayerSummary::new(&app, caller.network, player))))
}
