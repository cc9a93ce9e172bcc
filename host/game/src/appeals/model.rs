//! Appeals and their decisions.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::auth::Actor;
use crate::clock::Millis;

/// State of an appeal.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, strum::EnumString, strum::IntoStaticStr,
)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE")]
pub(super) enum AppealState {
    /// Waits for its decision.
    Open,
    /// The punishment was revoked or shortened.
    Accepted,
    /// The punishment stays.
    Rejected,
}

impl AppealState {
    pub(super) fn as_str(self) -> &'static str {
        self.into()
    }
}

impl TryFrom<String> for AppealState {
    type Error = strum::ParseError;

    fn try_from(text: String) -> Result<Self, strum::ParseError> {
        text.parse()
    }
}

/// Decision on an appeal.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, strum::EnumString, strum::IntoStaticStr,
)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE")]
pub(super) enum AppealDecision {
    /// Revokes the punishment.
    Accept,
    /// Gives it another duration.
    Reduce,
    /// Changes nothing.
    Reject,
}

impl AppealDecision {
    pub(super) fn as_str(self) -> &'static str {
        self.into()
    }

    /// State of an appeal with this decision.
    pub(super) fn state(self) -> AppealState {
        match self {
            Self::Accept | Self::Reduce => AppealState::Accepted,
            Self::Reject => AppealState::Rejected,
        }
    }
}

/// An appeal.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::struct_field_names, reason = "as on the wire")]
pub(super) struct Appeal {
    #[schema(example = "4fTq0ZkX91ab4fTq")]
    pub(super) appeal_id: String,
    #[schema(example = 42)]
    pub(super) punishment_id: i64,
    #[schema(example = "It was my brother.")]
    pub(super) text: String,
    /// Way to reach the player.
    #[schema(example = "steve@example.org")]
    pub(super) contact: Option<String>,
    pub(super) state: AppealState,
    /// Null until it is decided.
    pub(super) decision: Option<AppealDecision>,
    /// Staff's answer to the player.
    #[schema(example = "Welcome back.")]
    pub(super) answer: Option<String>,
    #[schema(example = 1_804_680_000_000_i64)]
    pub(super) at: Millis,
    pub(super) decided_by: Option<Actor>,
    pub(super) decided_at: Option<Millis>,
}
