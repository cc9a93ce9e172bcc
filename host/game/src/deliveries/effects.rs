//! Deliveries by modules.

use hub_sandbox::contract::effects::{Deliver, OnLost as ModuleOnLost};

use crate::app::App;
use crate::deliveries::model::OnLost;
use crate::deliveries::service::{self, NewDelivery};
use crate::http::document::Document;
use crate::http::error::ApiError;
use crate::modules::read_field;
use crate::values::{Identifier, NetworkId, PlayerId};

/// Maximum size of a payload, in bytes of JSON without whitespace between tokens.
const PAYLOAD_LIMIT: usize = 16 * 1024;

/// Creates a delivery; one with a reference that was used before stays as it is.
pub async fn deliver(app: &App, network: NetworkId, effect: &Deliver) -> Result<(), ApiError> {
    let name = |field: &str, text: &Option<String>| {
        text.as_deref().map(|text| read_field::<Identifier>(field, text)).transpose()
    };
    let time = |at: Option<u64>| at.map(|at| i64::try_from(at).unwrap_or(i64::MAX));
    let player = effect.player_uuid.as_deref().map(|uuid| read_field::<PlayerId>("playerUuid", uuid)).transpose()?;
    let player_name = name("playerName", &effect.player_name)?;
    if player.is_none() && player_name.is_none() {
        return Err(ApiError::invalid("`playerUuid` or `playerName` is required."));
    }
    let payload: Document = serde_json::from_str(&effect.payload)
        .map_err(|error| ApiError::invalid(format!("`payload`: must be JSON: {error}.")))?;
    let on_lost = match effect.on_lost {
        Some(ModuleOnLost::Retry) => OnLost::Retry,
        Some(ModuleOnLost::Hold) | None => OnLost::Hold,
    };
    let new = NewDelivery {
        player,
        name: player_name,
        kind: read_field("kind", &effect.kind)?,
        payload: payload.bounded_by("payload", PAYLOAD_LIMIT)?,
        server_type: name("serverType", &effect.server_type)?,
        server_id: name("serverId", &effect.server_id)?,
        not_before: time(effect.not_before_ms),
        expires_at: time(effect.expires_at_ms),
        reference: effect.reference.as_deref().map(|reference| read_field("reference", reference)).transpose()?,
        on_lost,
    };
    service::create(app, network, new).await?;
    Ok(())
}
