//! A punishment as staff see it: with evidence, changes and origin.

use axum::http::Uri;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::Actor;
use crate::clock::Millis;
use crate::http::answer::{AnswerBudget, json_size};
use crate::http::if_match::revision_of;
use crate::modules::service::CallTrace;
use crate::punishments::body::PunishmentBody;
use crate::punishments::model::Punishment;
use crate::text_type::text_type;

/// Maximum number of URLs of one punishment.
pub(super) const MAX_EVIDENCE: usize = 8;

text_type! {
    /// URL of something that proves a punishment's reason: HTTP or HTTPS, at most 2,048 characters, percent-encoded.
    pub(super) struct EvidenceUrl;
    check: |text| {
        let url = Some(text).filter(|text| text.is_ascii() && text.len() <= 2_048).and_then(|text| text.parse::<Uri>().ok());
        let is_web = |url: Uri| matches!(url.scheme_str(), Some("http" | "https")) && url.host().is_some_and(|it| !it.is_empty());
        url.is_some_and(is_web).then_some(()).ok_or("must be an HTTP or HTTPS URL of at most 2,048 ASCII characters")
    };
    schema: |text| text.max_length(Some(2_048)).pattern(Some("^https?://.+$")).examples(["https://example.org/replay/42"]);
}

/// A field of a punishment that staff changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PunishmentField)]
pub(crate) enum EditedField {
    Reason,
    DurationMs,
    Evidence,
}

/// A change of one field by staff.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = PunishmentEdit)]
pub(crate) struct Edit {
    #[schema(example = 1_804_680_000_000_i64)]
    pub(crate) at: Millis,
    pub(crate) actor: Actor,
    pub(crate) field: EditedField,
    #[schema(value_type = Option<Value>)]
    pub(crate) before: Value,
    #[schema(value_type = Option<Value>)]
    pub(crate) after: Value,
}

/// Module call, chat line or report that led to a punishment.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
#[schema(as = PunishmentOrigin)]
pub(crate) struct PunishmentOrigin {
    #[schema(example = "chat-guard")]
    pub(crate) module: Option<String>,
    #[schema(example = 3)]
    pub(crate) version: Option<i64>,
    pub(crate) call_id: Option<String>,
    pub(crate) chat_id: Option<String>,
    #[schema(example = 42)]
    pub(crate) report_id: Option<i64>,
}

impl From<CallTrace> for PunishmentOrigin {
    fn from(trace: CallTrace) -> Self {
        let (module, version) = trace.module.unzip();
        Self { module, version, call_id: Some(trace.call_id), ..Self::default() }
    }
}

/// A punishment with its details.
#[derive(Clone, Debug)]
pub(crate) struct ManagedPunishment {
    pub(crate) punishment: Punishment,
    pub(crate) evidence: Vec<String>,
    /// None if they are too long for a list.
    pub(crate) edits: Option<Vec<Edit>>,
    pub(crate) origin: Option<PunishmentOrigin>,
}

/// Terms of a punishment that staff change.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Terms<'a> {
    reason: Option<&'a str>,
    duration_ms: Option<i64>,
    evidence: &'a [String],
}

impl ManagedPunishment {
    pub(super) fn terms(&self) -> Terms<'_> {
        let Punishment { reason, duration_ms, .. } = &self.punishment;
        Terms { reason: reason.as_deref(), duration_ms: *duration_ms, evidence: &self.evidence }
    }

    /// Another one whenever its terms are.
    pub(super) fn revision(&self) -> i64 {
        revision_of(&self.terms())
    }
}

/// A punishment with its evidence, changes and origin.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ManagedPunishment)]
pub(super) struct ManagedBody {
    #[serde(flatten)]
    punishment: PunishmentBody,
    /// URLs that prove the reason.
    evidence: Vec<String>,
    /// Changes by staff, oldest first.
    edits: Vec<Edit>,
    /// Null if it was created by a request alone.
    origin: Option<PunishmentOrigin>,
    /// True in a list that has no room for evidence and edits: read the punishment itself.
    details_omitted: bool,
}

impl ManagedBody {
    /// State of the punishment at `now`.
    pub(super) fn new(app: &App, managed: ManagedPunishment, now: Millis) -> Self {
        Self {
            punishment: PunishmentBody::new(app, managed.punishment, now),
            evidence: managed.evidence,
            details_omitted: managed.edits.is_none(),
            edits: managed.edits.unwrap_or_default(),
            origin: managed.origin,
        }
    }

    /// Items of a list, whose details fit into one answer together.
    pub(super) fn list(app: &App, rows: Vec<ManagedPunishment>, now: Millis) -> Vec<Self> {
        let mut bodies: Vec<_> = rows.into_iter().map(|row| Self::new(app, row, now)).collect();
        let mut budget = AnswerBudget::default();
        let is_short =
            bodies.iter().all(|body| budget.take(json_size(&body.punishment) + json_size(&body.origin) + 64));
        for body in &mut bodies {
            let details = json_size(&body.evidence) + json_size(&body.edits);
            if !is_short || !budget.take(details) {
                (body.evidence, body.edits, body.details_omitted) = (vec![], vec![], true);
            }
        }
        bodies
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_is_on_the_web() {
        for fine in ["https://example.org/a?b=c#d", "http://192.0.2.1:8080/", "https://example.org/%C3%A9"] {
            assert!(fine.parse::<EvidenceUrl>().is_ok(), "{fine}");
        }
        let long = format!("https://example.org/{}", "x".repeat(2_048));
        for wrong in [
            "",
            "example.org",
            "ftp://example.org/a",
            "javascript:alert(1)",
            "https://",
            "https://a b/",
            "https://example.org/é",
            &long,
        ] {
            assert!(wrong.parse::<EvidenceUrl>().is_err(), "{wrong}");
        }
    }
}
