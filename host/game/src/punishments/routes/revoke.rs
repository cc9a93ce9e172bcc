//! Revokes punishments.

use axum::extract::State;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{ActorName, Reason, actor, bodies};
use crate::app::App;
use crate::auth::PunishmentsWrite;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::ApiError;
use crate::http::extract::Json;
use crate::punishments::{IpAddress, PunishmentBody, service};
use crate::values::{Identifier, PlayerId, Text};

pub(super) fn router() -> Endpoints {
    endpoints![
        remove_punishment: transactional publishing,
        unban_by_name: transactional publishing,
        unban_ip: transactional publishing,
    ]
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PunishmentRemoval)]
struct RemovePunishment {
    #[schema(example = 42)]
    punishment_id: i64,
    /// Absent if revoked by the console.
    actor_uuid: Option<PlayerId>,
    #[schema(example = "Alex")]
    actor_name: Option<ActorName>,
    reason: Option<Reason>,
}

/// Revoke a punishment
///
/// It stays in the history as revoked. A punishment that is not in force is returned unchanged; an unknown id is 400
/// `unknown_punishment`. Every server gets a `PUNISHMENT` event.
#[utoipa::path(post, path = "/api/plugin/punishments/remove", tag = "Punishments",
    security(("apiKey" = ["punishments:write", "plugin"])), responses((status = 200, body = PunishmentBody)))]
async fn remove_punishment(
    PunishmentsWrite(caller): PunishmentsWrite,
    State(app): State<App>,
    Json(body): Json<RemovePunishment>,
) -> Result<Json<PunishmentBody>, ApiError> {
    let actor = actor(body.actor_uuid, body.actor_name);
    let reason = body.reason.as_ref().map(Text::as_str);
    let punishment = service::revoke(&app, caller.network, body.punishment_id, &actor, reason).await?;
    Ok(Json(PunishmentBody::new(&app, punishment, app.clock.now())))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NameUnban)]
struct UnbanByName {
    #[schema(example = "Steve")]
    player_name: Identifier,
    /// Also revokes the bans of the player's last known address.
    also_unban_last_ip: Option<bool>,
    /// Absent if revoked by the console.
    actor_uuid: Option<PlayerId>,
    #[schema(example = "Alex")]
    actor_name: Option<ActorName>,
    reason: Option<Reason>,
}

/// Unban a name
///
/// Revokes every ban in force for the name, compared without case, and returns the newest 400 of them, or `[]`.
#[utoipa::path(post, path = "/api/plugin/punishments/unban-by-name", tag = "Punishments", operation_id = "unban_name",
    security(("apiKey" = ["punishments:write", "plugin"])), responses((status = 200, body = Vec<PunishmentBody>)))]
async fn unban_by_name(
    PunishmentsWrite(caller): PunishmentsWrite,
    State(app): State<App>,
    Json(body): Json<UnbanByName>,
) -> Result<Json<Vec<PunishmentBody>>, ApiError> {
    let actor = actor(body.actor_uuid, body.actor_name);
    let reason = body.reason.as_ref().map(Text::as_str);
    let and_last_address = body.also_unban_last_ip.unwrap_or(false);
    let name = body.player_name.as_str();
    let revoked = service::unban_name(&app, caller.network, name, and_last_address, &actor, reason).await?;
    Ok(bodies(&app, revoked))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AddressUnban)]
struct UnbanIp {
    ip_address: IpAddress,
    /// Absent if revoked by the console.
    actor_uuid: Option<PlayerId>,
    #[schema(example = "Alex")]
    actor_name: Option<ActorName>,
    reason: Option<Reason>,
}

/// Unban an address
///
/// Revokes every ban in force that covers the address, including ip-based ones of players, and returns the newest 400
/// of them, or `[]`.
#[utoipa::path(post, path = "/api/plugin/punishments/unban-ip", tag = "Punishments",
    security(("apiKey" = ["punishments:write", "plugin"])), responses((status = 200, body = Vec<PunishmentBody>)))]
async fn unban_ip(
    PunishmentsWrite(caller): PunishmentsWrite,
    State(app): State<App>,
    Json(body): Json<UnbanIp>,
) -> Result<Json<Vec<PunishmentBody>>, ApiError> {
    let actor = actor(body.actor_uuid, body.actor_name);
    let reason = body.reason.as_ref().map(Text::as_str);
    Ok(bodies(&app, service::unban_address(&app, caller.network, body.ip_address, &actor, reason).await?))
}
