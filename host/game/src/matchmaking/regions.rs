//! `/api/plugin/matchmaking/regions`.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::Matchmaking;
use crate::config::Switch;
use crate::geo::Region;
use crate::http::extract::{Json, Query};
use crate::presence::{Presence, Role};
use crate::values::not_blank;

/// A region with game servers.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RegionPopulation)]
pub(super) struct RegionRow {
    region: Region,
    servers: u32,
    players: u32,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(super) struct RegionsQuery {
    /// Only servers of this type.
    server_type: Option<String>,
}

/// List the regions with game servers
///
/// Online servers only, the most populated region first; servers without a known location count as UNKNOWN. Empty if
/// the hub routes without regions.
#[utoipa::path(get, path = "/api/plugin/matchmaking/regions", tag = "Matchmaking", security(("apiKey" = ["matchmaking", "plugin"])),
    params(RegionsQuery), operation_id = "list_regions", responses((status = 200, body = Vec<RegionRow>)))]
pub(super) async fn regions(
    Matchmaking(caller): Matchmaking,
    State(app): State<App>,
    Query(query): Query<RegionsQuery>,
) -> Json<Vec<RegionRow>> {
    if app.settings.geo_routing == Switch::Off {
        return Json(vec![]);
    }
    let (now, server_type) = (app.clock.now(), not_blank(query.server_type.as_deref()));
    let counts = app.state::<Presence>().with(caller.network, |presence| {
        let mut counts: BTreeMap<Region, (u32, u32)> = BTreeMap::new();
        for server in presence.online(now) {
            let wanted = server_type.is_none_or(|kind| kind == server.info.server_type.as_str());
            if wanted && server.info.role == Role::Game {
                let (servers, players) = counts.entry(server.info.region.clone()).or_default();
                *servers += 1;
                *players += server.current_players();
            }
        }
        counts
    });
    let row = |(region, (servers, players))| RegionRow { region, servers, players };
    let mut rows: Vec<_> = counts.into_iter().map(row).collect();
    rows.sort_by_key(|it| (Reverse(it.players), Reverse(it.servers)));
    Json(rows)
}
