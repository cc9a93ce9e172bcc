//! Lists punishments.

use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;

use super::bodies;
use crate::app::App;
use crate::auth::{Caller, PlayerPunishmentsRead, PunishmentsWrite};
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::ApiError;
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{Limit, Offset};
use crate::punishments::service::{self, MAX_ANSWERED};
use crate::punishments::{Identity, PunishmentBody, PunishmentFilter};
use crate::values::{Identifier, PlayerId, not_blank};

type Bodies = Json<Vec<PunishmentBody>>;

pub(super) fn router() -> Endpoints {
    endpoints![
        list_punishments_of_name: large_answer,
        list_history_of_name: large_answer,
        list_punishments_of_player: large_answer,
        list_history_of_player: large_answer,
        query_punishments: large_answer,
    ]
}

const fn default_true() -> bool {
    true
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
struct ListQuery {
    /// Only those in force. Default: `true`.
    #[serde(default = "default_true")]
    #[param(required = false, default = true)]
    active_only: bool,
}

impl ListQuery {
    fn filter(&self) -> PunishmentFilter {
        all(self.active_only)
    }
}

/// The answer's maximum: the list decides if a player may join, so no other punishment may crowd out a ban.
fn all(active_only: bool) -> PunishmentFilter {
    let limit = MAX_ANSWERED as i64;
    PunishmentFilter { active_only, since: None, kind: None, limit, offset: 0, prefers_bans: true }
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct HistoryQuery {
    #[serde(default)]
    #[param(inline, required = false)]
    limit: Limit,
    #[serde(default)]
    #[param(inline, required = false)]
    offset: Offset,
}

impl HistoryQuery {
    fn filter(&self) -> PunishmentFilter {
        PunishmentFilter { limit: self.limit.0, offset: self.offset.0, prefers_bans: false, ..all(false) }
    }
}

async fn find(app: &App, caller: &Caller, identity: Identity, filter: PunishmentFilter) -> Result<Bodies, ApiError> {
    Ok(bodies(app, service::find(app, caller.network, &identity, &filter).await?))
}

fn by_name(name: Identifier) -> Identity {
    Identity { name: Some(name.into_string()), ..Identity::default() }
}

fn by_player(id: PlayerId) -> Identity {
    Identity { player: Some(id), ..Identity::default() }
}

/// List a name's punishments
///
/// Punishments by this name, compared without case, and those of the player who has the name now. Newest first; at most
/// 400, bans before all others.
#[utoipa::path(get, path = "/api/plugin/punishments/player-name/{name}", tag = "Punishments",
    security(("apiKey" = ["punishments:write", "plugin"])), params(("name" = String, Path, example = "Notch"), ListQuery),
    responses((status = 200, body = Vec<PunishmentBody>)))]
async fn list_punishments_of_name(
    PunishmentsWrite(caller): PunishmentsWrite,
    State(app): State<App>,
    Path(name): Path<Identifier>,
    Query(query): Query<ListQuery>,
) -> Result<Bodies, ApiError> {
    find(&app, &caller, by_name(name), query.filter()).await
}

/// List a name's punishment history
///
/// Includes expired and revoked punishments, newest first.
#[utoipa::path(get, path = "/api/plugin/punishments/player-name/{name}/history", tag = "Punishments", operation_id = "list_punishment_history_of_name",
    security(("apiKey" = ["punishments:write", "plugin"])), params(("name" = String, Path, example = "Notch"), HistoryQuery),
    responses((status = 200, body = Vec<PunishmentBody>)))]
async fn list_history_of_name(
    PunishmentsWrite(caller): PunishmentsWrite,
    State(app): State<App>,
    Path(name): Path<Identifier>,
    Query(query): Query<HistoryQuery>,
) -> Result<Bodies, ApiError> {
    find(&app, &caller, by_name(name), query.filter()).await
}

/// List a player's punishments
///
/// Punishments by UUID, and by any name the player was seen with. Newest first; at most 400, bans before all others.
#[utoipa::path(get, path = "/api/plugin/punishments/player/{uuid}", tag = "Punishments",
    security(("apiKey" = ["players:read", "punishments:write", "plugin"])), params(("uuid" = PlayerId, Path), ListQuery),
    responses((status = 200, body = Vec<PunishmentBody>)))]
async fn list_punishments_of_player(
    PlayerPunishmentsRead(caller): PlayerPunishmentsRead,
    State(app): State<App>,
    Path(id): Path<PlayerId>,
    Query(query): Query<ListQuery>,
) -> Result<Bodies, ApiError> {
    find(&app, &caller, by_player(id), query.filter()).await
}

/// List a player's punishment history
///
/// Includes expired and revoked punishments, newest first.
#[utoipa::path(get, path = "/api/plugin/punishments/player/{uuid}/history", tag = "Punishments", operation_id = "list_punishment_history_of_player",
    security(("apiKey" = ["players:read", "punishments:write", "plugin"])), params(("uuid" = PlayerId, Path), HistoryQuery),
    responses((status = 200, body = Vec<PunishmentBody>)))]
async fn list_history_of_player(
    PlayerPunishmentsRead(caller): PlayerPunishmentsRead,
    State(app): State<App>,
    Path(id): Path<PlayerId>,
    Query(query): Query<HistoryQuery>,
) -> Result<Bodies, ApiError> {
    find(&app, &caller, by_player(id), query.filter()).await
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
struct MatchQuery {
    /// Only those in force. Default: `true`.
    #[serde(default = "default_true")]
    #[param(required = false, default = true)]
    active_only: bool,
    /// IPv4 or IPv6.
    #[param(example = "203.0.113.7")]
    ip: Option<String>,
    #[param(example = "069a79f4-44e9-4726-a5be-fca90e38aaf5")]
    player_uuid: Option<String>,
}

/// List punishments by player or address
///
/// With both, punishments that match either one; with neither, 400. An address matches its own punishments and the
/// ip-based ones of players who had it when they were punished or were seen with it since. Newest first; at most 400,
/// bans before all others.
#[utoipa::path(get, path = "/api/plugin/punishments/query", tag = "Punishments",
    security(("apiKey" = ["punishments:write", "plugin"])), params(MatchQuery),
    responses((status = 200, body = Vec<PunishmentBody>)))]
async fn query_punishments(
    PunishmentsWrite(caller): PunishmentsWrite,
    State(app): State<App>,
    Query(query): Query<MatchQuery>,
) -> Result<Bodies, ApiError> {
    let wrong = |name: &str, reason: String| ApiError::invalid(format!("In the query, `{name}`: {reason}."));
    let player = not_blank(query.player_uuid.as_deref()).map(str::parse).transpose();
    let address = not_blank(query.ip.as_deref()).map(str::parse).transpose();
    let identity = Identity {
        player: player.map_err(|reason| wrong("playerUuid", reason))?,
        address: address.map_err(|reason| wrong("ip", reason))?,
        name: None,
    };
    if identity.player.is_none() && identity.address.is_none() {
        return Err(ApiError::invalid("In the query, `playerUuid` or `ip` is required."));
    }
    find(&app, &caller, identity, all(query.active_only)).await
}
