//! Addresses that a player was seen with.

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::PlayersRead;
use crate::clock::Millis;
use crate::endpoints::{Endpoints, endpoints};
use crate::geo::Region;
use crate::http::error::ApiError;
use crate::http::extract::{Json, Path};
use crate::punishments::{self, IpAddress, KnownAddress};
use crate::values::PlayerId;

pub(super) fn router() -> Endpoints {
    endpoints![list_player_ips]
}

/// An address a player was seen with.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct IpRecord {
    ip_address: IpAddress,
    #[schema(example = 1_804_680_000_000_i64)]
    first_seen: Millis,
    #[schema(example = 1_804_680_000_000_i64)]
    last_seen: Millis,
    /// Null if it could not be located.
    #[schema(value_type = Option<String>, example = "EUROPE")]
    region: Option<Region>,
    /// ISO country code of two upper-case letters.
    #[schema(example = "SE")]
    country: Option<String>,
    /// Time of the look-up: addresses are located when they are read. Null if it failed.
    #[schema(example = 1_804_680_000_000_i64)]
    geo_resolved_at: Option<Millis>,
}

impl IpRecord {
    fn new(app: &App, known: KnownAddress) -> Self {
        let location = known.ip_address.as_str().parse().ok().and_then(|address| app.geo.locate(address));
        let (region, country) = location.map(|location| (location.region, location.country)).unzip();
        Self {
            geo_resolved_at: region.is_some().then(|| app.clock.now()),
            region,
            country: country.flatten(),
            ip_address: known.ip_address,
            first_seen: known.first_seen,
            last_seen: known.last_seen,
        }
    }
}

/// List a player's addresses
///
/// Addresses recorded for punishments (`/api/plugin/punishments/ip`), the current one first; the newest 1,000. Empty
/// for a player never seen with one.
#[utoipa::path(get, path = "/api/plugin/players/{uuid}/ips", tag = "Players", security(("apiKey" = ["players:read", "players:write", "plugin"])),
    params(("uuid" = PlayerId, Path)), responses((status = 200, body = Vec<IpRecord>)))]
async fn list_player_ips(
    PlayersRead(caller): PlayersRead,
    State(app): State<App>,
    Path(id): Path<PlayerId>,
) -> Result<Json<Vec<IpRecord>>, ApiError> {
    let known = punishments::service::addresses(&app, caller.network, id).await?;
    Ok(Json(known.into_iter().map(|known| IpRecord::new(&app, known)).collect()))
}
