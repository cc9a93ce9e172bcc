//! Previews of punishments.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::create::terms;
use super::{ActorName, Reason, actor};
use crate::app::App;
use crate::auth::PunishmentsWrite;
use crate::clock::Millis;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::ApiError;
use crate::http::extract::Json;
use crate::punishments::review::{self, Preview};
use crate::punishments::{NewPunishment, PunishmentDuration, PunishmentKind, PunishmentTerms, Target};
use crate::values::{Identifier, PlayerId};

pub(super) fn router() -> Endpoints {
    endpoints![preview_punishment: read_only ends_with_caller long]
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PunishmentPreviewRequest)]
struct PreviewRequest {
    /// Required without `playerName`.
    player_uuid: Option<PlayerId>,
    #[schema(example = "Steve")]
    player_name: Option<Identifier>,
    /// Case-insensitive.
    r#type: PunishmentKind,
    #[schema(example = "Griefing")]
    reason: Option<Reason>,
    /// Milliseconds; absent or null is permanent.
    #[schema(example = 3_600_000)]
    duration_ms: Option<PunishmentDuration>,
    ip_based: Option<bool>,
    issuer_uuid: Option<PlayerId>,
    #[schema(example = "Alex")]
    issuer_name: Option<ActorName>,
}

/// Decision of the network's modules.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schema(as = PunishmentPreviewDecision)]
enum PreviewDecision {
    /// It would be made as it is.
    Accept,
    /// It would be made on other terms.
    Amend,
    /// It would not be made.
    Reject,
}

/// A punishment that would be made.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PreviewedPunishment)]
struct PreviewedPunishment {
    r#type: PunishmentKind,
    #[schema(example = "Griefing")]
    reason: Option<String>,
    /// Null is permanent.
    #[schema(example = 3_600_000)]
    duration_ms: Option<Millis>,
}

/// A module that was asked.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PreviewModule)]
struct PreviewModule {
    #[schema(example = "escalate")]
    name: String,
    #[schema(example = 2)]
    version: i64,
    /// True if its call failed.
    failed: bool,
}

/// Outcome that a punishment would have.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PunishmentPreview)]
struct PreviewBody {
    decision: PreviewDecision,
    /// Reason of the modules to reject it.
    #[schema(example = "Tickets first.")]
    reason: Option<String>,
    /// The punishment, and those that the modules add; none if it is rejected.
    punishments: Vec<PreviewedPunishment>,
    /// Modules that were asked, in order.
    modules: Vec<PreviewModule>,
}

impl From<Preview> for PreviewBody {
    fn from(Preview { rejection, is_amended, terms, steps }: Preview) -> Self {
        let decision = match (&rejection, is_amended) {
            (Some(_), _) => PreviewDecision::Reject,
            (None, true) => PreviewDecision::Amend,
            (None, false) => PreviewDecision::Accept,
        };
        let punishment = |PunishmentTerms { kind, reason, duration }| PreviewedPunishment {
            r#type: kind,
            reason,
            duration_ms: duration.map(PunishmentDuration::ms),
        };
        let modules = steps.into_iter().map(|step| PreviewModule {
            name: step.name,
            version: step.version,
            failed: step.has_failed,
        });
        Self {
            decision,
            reason: rejection,
            punishments: terms.into_iter().map(punishment).collect(),
            modules: modules.collect(),
        }
    }
}

/// Preview a punishment
///
/// Asks the network's modules at the extension point `punishment`, without effect: they read real data, what they write is
/// discarded, and nothing is created, counted or recorded.
#[utoipa::path(post, path = "/api/plugin/punishments/preview", tag = "Punishments", operation_id = "preview_punishment",
    security(("apiKey" = ["punishments:write", "plugin"])), responses((status = 200, body = PreviewBody)))]
async fn preview_punishment(
    PunishmentsWrite(caller): PunishmentsWrite,
    State(app): State<App>,
    Json(body): Json<PreviewRequest>,
) -> Result<Json<PreviewBody>, ApiError> {
    let (name, ip_based) = (body.player_name.map(Identifier::into_string), body.ip_based.unwrap_or(false));
    let target = match (body.player_uuid, name) {
        (Some(id), name) => Target::Player { id, name, ip_based },
        (None, Some(name)) => Target::Name { name, ip_based },
        (None, None) => return Err(ApiError::invalid("In the body, `playerUuid` or `playerName` is required.")),
    };
    let terms = terms(body.r#type, body.reason, body.duration_ms);
    let issuer = actor(body.issuer_uuid, body.issuer_name);
    let preview = review::preview(&app, caller.network, NewPunishment { target, terms, issuer }).await?;
    Ok(Json(preview.into()))
}
