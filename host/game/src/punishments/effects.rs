//! Punishments by modules. The network's review is asked before the transaction that creates them.

use hub_sandbox::contract::effects::{Punish, RevokePunishment};
use serde::Deserialize;

use crate::app::App;
use crate::events::EventKind;
use crate::http::error::ApiError;
use crate::modules::{HandledEvent, ModuleActor, read_field, read_text};
use crate::punishments::review::{self, Reviewed};
use crate::punishments::service;
use crate::punishments::{Actor, NewPunishment, PunishmentDuration, PunishmentOrigin, PunishmentTerms, Target};
use crate::values::{Identifier, NetworkId, PlayerId};

/// A punishment as the network's review left it.
#[derive(Debug)]
pub struct PreparedPunishment(Reviewed);

fn issuer(module: &str) -> Actor {
    Actor { player: None, name: Some(module.to_owned()) }
}

/// The call that punishes, and the report or the chat line that it was called for.
fn origin(actor: &ModuleActor, event: HandledEvent<'_>) -> PunishmentOrigin {
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct About {
        id: Option<String>,
        report: Option<AboutReport>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct AboutReport {
        report_id: i64,
    }
    let read = |kind: EventKind| {
        let about = (event.name == kind.name()).then(|| serde_json::from_str::<About>(event.data).ok());
        about.flatten().unwrap_or_default()
    };
    PunishmentOrigin {
        module: Some(actor.name.clone()),
        version: Some(actor.version),
        call_id: Some(actor.call_id.clone()),
        chat_id: read(EventKind::ChatVerdict).id,
        report_id: read(EventKind::ReportCreated).report.map(|report| report.report_id),
    }
}

/// Has a punishment reviewed.
pub async fn prepare(
    app: &App,
    network: NetworkId,
    actor: &ModuleActor,
    event: HandledEvent<'_>,
    effect: &Punish,
) -> Result<PreparedPunishment, ApiError> {
    let player = effect.player_uuid.as_deref().map(|uuid| read_field::<PlayerId>("playerUuid", uuid)).transpose()?;
    let name = effect.player_name.as_deref().map(|name| read_field::<Identifier>("playerName", name)).transpose()?;
    let target = match (player, name.map(Identifier::into_string)) {
        (Some(id), name) => Target::Player { id, name, ip_based: false },
        (None, Some(name)) => Target::Name { name, ip_based: false },
        (None, None) => return Err(ApiError::invalid("`playerUuid` or `playerName` is required.")),
    };
    let terms = PunishmentTerms {
        kind: effect.kind.into(),
        reason: Some(read_text::<1024>("reason", &effect.reason)?).filter(|reason| !reason.is_empty()),
        duration: effect.duration_ms.map(PunishmentDuration::clamped),
    };
    let new = NewPunishment { target, terms, issuer: issuer(&actor.name) };
    Ok(PreparedPunishment(review::review(app, network, new, Some(origin(actor, event))).await?))
}

/// Creates a reviewed punishment.
pub async fn punish(app: &App, network: NetworkId, prepared: &PreparedPunishment) -> Result<(), ApiError> {
    review::create_reviewed(app, network, &prepared.0).await?;
    Ok(())
}

/// Revokes a punishment. An inactive one stays unchanged.
pub async fn revoke(
    app: &App,
    network: NetworkId,
    actor: &ModuleActor,
    effect: &RevokePunishment,
) -> Result<(), ApiError> {
    let id = i64::try_from(effect.id).unwrap_or(i64::MAX);
    let reason = effect.reason.as_deref().map(|reason| read_text::<1024>("reason", reason)).transpose()?;
    service::revoke(app, network, id, &issuer(&actor.name), reason.as_deref()).await?;
    Ok(())
}
