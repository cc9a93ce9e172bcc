//! Creates punishments, and records the addresses they are matched by.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{ActorName, Reason, actor};
use crate::app::App;
use crate::auth::{AddressesWrite, Caller, PunishmentsWrite};
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::ApiError;
use crate::http::extract::Json;
use crate::punishments::NameRight;
use crate::punishments::review;
use crate::punishments::{
    self, IpAddress, NewPunishment, PunishmentBody, PunishmentDuration, PunishmentKind, PunishmentTerms, Target,
};
use crate::values::{Identifier, PlayerId, Text, not_blank};

pub(super) fn router() -> Endpoints {
    endpoints![
        create_punishment: transactional publishing,
        create_punishment_by_name: transactional publishing,
        create_ip_punishment: transactional publishing,
        note_player_ip: transactional,
    ]
}

pub(super) fn terms(
    kind: PunishmentKind,
    reason: Option<Reason>,
    duration: Option<PunishmentDuration>,
) -> PunishmentTerms {
    PunishmentTerms { kind, reason: reason.map(Text::into_string), duration }
}

async fn create(app: &App, caller: &Caller, new: NewPunishment) -> Result<Json<PunishmentBody>, ApiError> {
    let created = review::create(app, caller.network, new).await?;
    Ok(Json(PunishmentBody::new(app, created, app.clock.now())))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PunishmentRequest)]
struct CreatePunishment {
    player_uuid: PlayerId,
    #[schema(example = "Steve")]
    player_name: Option<Identifier>,
    /// Case-insensitive.
    r#type: PunishmentKind,
    #[schema(example = "Griefing")]
    reason: Option<Reason>,
    /// Milliseconds; absent or null is permanent.
    #[schema(example = 3_600_000)]
    duration_ms: Option<PunishmentDuration>,
    /// Also punishes the player's addresses: the last known one and later ones.
    ip_based: Option<bool>,
    /// Absent if issued by the console.
    issuer_uuid: Option<PlayerId>,
    #[schema(example = "Alex")]
    issuer_name: Option<ActorName>,
}

/// Punish a player
///
/// The network's modules at the extension point `punishment` review it first: they may amend it, add to it, or reject
/// it (400 `punishment_rejected` with their reason). Every server gets a `PUNISHMENT` event.
#[utoipa::path(post, path = "/api/plugin/punishments/create", tag = "Punishments",
    security(("apiKey" = ["punishments:write", "plugin"])), responses((status = 200, body = PunishmentBody)))]
async fn create_punishment(
    PunishmentsWrite(caller): PunishmentsWrite,
    State(app): State<App>,
    Json(body): Json<CreatePunishment>,
) -> Result<Json<PunishmentBody>, ApiError> {
    let target = Target::Player {
        id: body.player_uuid,
        name: body.player_name.map(Identifier::into_string),
        ip_based: body.ip_based.unwrap_or(false),
    };
    let terms = terms(body.r#type, body.reason, body.duration_ms);
    let issuer = actor(body.issuer_uuid, body.issuer_name);
    create(&app, &caller, NewPunishment { target, terms, issuer }).await
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NamePunishmentRequest)]
struct CreateByName {
    #[schema(example = "Steve")]
    player_name: Identifier,
    /// Case-insensitive.
    r#type: PunishmentKind,
    #[schema(example = "Griefing")]
    reason: Option<Reason>,
    /// Milliseconds; absent or null is permanent.
    #[schema(example = 3_600_000)]
    duration_ms: Option<PunishmentDuration>,
    /// Also punishes the player's addresses: the last known one and later ones.
    ip_based: Option<bool>,
    /// Absent if issued by the console.
    issuer_uuid: Option<PlayerId>,
    #[schema(example = "Alex")]
    issuer_name: Option<ActorName>,
}

/// Punish a player by name
///
/// For players who are not online. Matches every player seen with that name, compared without case.
#[utoipa::path(post, path = "/api/plugin/punishments/create-by-name", tag = "Punishments",
    security(("apiKey" = ["punishments:write", "plugin"])), responses((status = 200, body = PunishmentBody)))]
async fn create_punishment_by_name(
    PunishmentsWrite(caller): PunishmentsWrite,
    State(app): State<App>,
    Json(body): Json<CreateByName>,
) -> Result<Json<PunishmentBody>, ApiError> {
    let target = Target::Name { name: body.player_name.into_string(), ip_based: body.ip_based.unwrap_or(false) };
    let terms = terms(body.r#type, body.reason, body.duration_ms);
    let issuer = actor(body.issuer_uuid, body.issuer_name);
    create(&app, &caller, NewPunishment { target, terms, issuer }).await
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AddressPunishmentRequest)]
struct CreateIp {
    /// IPv4 or IPv6; null or blank has no effect.
    #[schema(example = "203.0.113.7")]
    ip_address: Option<String>,
    /// Case-insensitive. Required unless `ipAddress` is null or blank.
    r#type: Option<PunishmentKind>,
    #[schema(example = "Griefing")]
    reason: Option<Reason>,
    /// Milliseconds; absent or null is permanent.
    #[schema(example = 3_600_000)]
    duration_ms: Option<PunishmentDuration>,
    /// Absent if issued by the console.
    issuer_uuid: Option<PlayerId>,
    #[schema(example = "Alex")]
    issuer_name: Option<ActorName>,
}

/// Punish an address
///
/// Matches every player with this address. A null or blank address has no effect and is answered with 204.
#[utoipa::path(post, path = "/api/plugin/punishments/create-ip", tag = "Punishments",
    security(("apiKey" = ["punishments:write", "plugin"])),
    responses((status = 200, body = PunishmentBody), (status = 204, description = "No address given, no effect")))]
async fn create_ip_punishment(
    PunishmentsWrite(caller): PunishmentsWrite,
    State(app): State<App>,
    Json(body): Json<CreateIp>,
) -> Result<Response, ApiError> {
    let Some(address) = not_blank(body.ip_address.as_deref()) else {
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    let address: IpAddress =
        address.parse().map_err(|reason| ApiError::invalid(format!("In the body, `ipAddress`: {reason}.")))?;
    let kind = body.r#type.ok_or_else(|| ApiError::invalid("Invalid body: missing field `type`."))?;
    let terms = terms(kind, body.reason, body.duration_ms);
    let (target, issuer) = (Target::Address(address), actor(body.issuer_uuid, body.issuer_name));
    Ok(create(&app, &caller, NewPunishment { target, terms, issuer }).await?.into_response())
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlayerAddress)]
struct NoteIp {
    player_uuid: PlayerId,
    #[schema(example = "Steve")]
    player_name: Option<Identifier>,
    ip_address: IpAddress,
}

/// Record a player's current address
///
/// Afterwards punishments of addresses match the player, and ip-based punishments of the player match the address. The
/// name is recorded too, if the key has the scope `punishments:write` or `plugin`: punishments by that name match the
/// player from now on.
#[utoipa::path(post, path = "/api/plugin/punishments/ip", tag = "Punishments", operation_id = "record_player_ip",
    security(("apiKey" = ["punishments:write", "players:write", "plugin"])), responses((status = 204, description = "Recorded")))]
async fn note_player_ip(
    AddressesWrite(caller): AddressesWrite,
    State(app): State<App>,
    Json(body): Json<NoteIp>,
) -> Result<StatusCode, ApiError> {
    let name = body.player_name.as_ref().map(Identifier::as_str).zip(NameRight::of(&caller));
    punishments::service::record_address(&app, caller.network, body.player_uuid, name, &body.ip_address).await?;
    Ok(StatusCode::NO_CONTENT)
}
