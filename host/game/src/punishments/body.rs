//! A punishment in answers and in events.

use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::clock::Millis;
use crate::punishments::appeal_code;
use crate::punishments::model::Punishment;
use crate::punishments::values::{IpAddress, PunishmentKind};
use crate::values::PlayerId;

/// A punishment.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Punishment)]
pub(crate) struct PunishmentBody {
    /// Counted from 1 in the network.
    #[schema(example = 42)]
    id: i64,
    /// Null for one by name or address only.
    player_uuid: Option<PlayerId>,
    /// The player's name at its creation.
    #[schema(example = "Steve")]
    player_name: Option<String>,
    r#type: PunishmentKind,
    #[schema(example = "Griefing")]
    reason: Option<String>,
    /// Milliseconds; null is permanent.
    #[schema(example = 3_600_000)]
    duration_ms: Option<Millis>,
    /// Expiry; null is never.
    expires_at: Option<Millis>,
    /// True if it also matches addresses: the one below, and those the player is seen with later.
    ip_based: bool,
    /// True if in force now. A kick never is.
    active: bool,
    /// The punished address, or the player's address at its creation.
    ip_address: Option<IpAddress>,
    issuer_uuid: Option<PlayerId>,
    #[schema(example = "Alex")]
    issuer_name: Option<String>,
    issued_at: Millis,
    /// Code to appeal with; null unless it is a ban or mute in force.
    #[schema(example = "K7QMZ2RWXA9P")]
    appeal_code: Option<String>,
}

impl PunishmentBody {
    /// State of the punishment at `now`.
    pub(crate) fn new(app: &App, punishment: Punishment, now: Millis) -> Self {
        let active = punishment.is_active(now);
        Self {
            active,
            appeal_code: appeal_code::of(app, &punishment).filter(|_| active),
            id: punishment.id,
            player_uuid: punishment.player_uuid,
            player_name: punishment.player_name,
            r#type: punishment.kind,
            reason: punishment.reason,
            duration_ms: punishment.duration_ms,
            expires_at: punishment.expires_at,
            ip_based: punishment.ip_based,
            ip_address: punishment.ip_address,
            issuer_uuid: punishment.issuer_uuid,
            issuer_name: punishment.issuer_name,
            issued_at: punishment.issued_at,
        }
    }
}
