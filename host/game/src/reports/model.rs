//! Reports and their states.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::auth::Actor;
use crate::clock::Millis;
use crate::values::PlayerId;

/// State of a report.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, strum::EnumString, strum::IntoStaticStr,
)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE")]
pub(super) enum ReportState {
    /// Waits for staff.
    Open,
    /// One of the staff works on it.
    Taken,
    /// Done.
    Closed,
}

impl ReportState {
    pub(super) fn as_str(self) -> &'static str {
        self.into()
    }
}

impl TryFrom<String> for ReportState {
    type Error = strum::ParseError;

    fn try_from(text: String) -> Result<Self, strum::ParseError> {
        text.parse()
    }
}

/// A report about a player.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::struct_field_names, reason = "as on the wire")]
pub(super) struct Report {
    /// Counted from 1 in the network.
    #[schema(example = 42)]
    pub(super) report_id: i64,
    /// Null for an erased player.
    pub(super) reporter_uuid: Option<PlayerId>,
    /// The reported player.
    pub(super) player_uuid: PlayerId,
    #[schema(example = "Insults in chat")]
    pub(super) reason: String,
    /// Server on which it was written.
    #[schema(example = "lobby-1")]
    pub(super) server_id: Option<String>,
    pub(super) state: ReportState,
    /// Staff's answer.
    #[schema(example = "Muted for a day")]
    pub(super) resolution: Option<String>,
    /// Staff member who works, or worked, on it.
    pub(super) taken_by: Option<Actor>,
    #[schema(example = 1_804_680_000_000_i64)]
    pub(super) at: Millis,
}

/// A report with the lines that it keeps, as JSON.
#[derive(Clone, Debug)]
pub(super) struct ReportWithChat {
    pub(super) report: Report,
    pub(super) chat: Option<String>,
}
