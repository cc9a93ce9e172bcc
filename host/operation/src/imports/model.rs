//! Imports.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::auth::{KeyId, Scope};
use crate::clock::Millis;
use crate::imports::report::Report;
use crate::values::{Identifier, NetworkId};

/// Tool that a file comes from.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, strum::EnumString, strum::IntoStaticStr,
)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE", ascii_case_insensitive)]
pub(super) enum ImportKind {
    /// LuckPerms export.
    LuckPerms,
    /// LiteBans database.
    LiteBans,
    /// `EssentialsX` user files, or a table of balances.
    Balances,
    /// The game server's lists of bans, or its whitelist.
    Vanilla,
    /// AdvancedBan database.
    AdvancedBan,
    /// LibertyBans database.
    LibertyBans,
    /// BanManager database.
    BanManager,
    /// PlayerPoints database.
    PlayerPoints,
    /// XConomy database.
    XConomy,
}

impl ImportKind {
    /// True if it brings balances into a currency.
    pub(super) fn has_balances(self) -> bool {
        matches!(self, Self::Balances | Self::PlayerPoints | Self::XConomy)
    }

    /// Scope of what it writes.
    pub(super) fn scope(self) -> Scope {
        match self {
            Self::LuckPerms => Scope::PermissionsWrite,
            Self::Balances | Self::PlayerPoints | Self::XConomy => Scope::EconomyWrite,
            Self::LiteBans | Self::AdvancedBan | Self::LibertyBans | Self::BanManager | Self::Vanilla => {
                Scope::PunishmentsWrite
            }
        }
    }

    /// Prefix of its tables' names by default.
    pub(super) fn default_prefix(self) -> &'static str {
        match self {
            Self::LiteBans => "litebans_",
            Self::LibertyBans => "libertybans_",
            Self::BanManager => "bm_",
            Self::PlayerPoints => "playerpoints_",
            Self::XConomy => "xconomy",
            Self::LuckPerms | Self::Balances | Self::Vanilla | Self::AdvancedBan => "",
        }
    }
}

/// State of an import.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, strum::EnumString, strum::IntoStaticStr,
)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE")]
pub(super) enum ImportState {
    /// Waiting to begin.
    Queued,
    /// The file is being read or written.
    Running,
    /// Complete.
    Done,
    /// Ended with an error. If `done` is above 0, that many records are written.
    Failed,
    /// Cancelled. Written records stay.
    Cancelled,
}

/// Handling of punishments limited to a single server, which the hub does not support.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::EnumString)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE", ascii_case_insensitive)]
pub(super) enum Scopes {
    /// Skipped.
    #[default]
    Skip,
    /// Applied to the whole network.
    Everywhere,
}

/// Options for reading a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ImportOptions {
    /// Currency of balances.
    pub(super) currency: Option<Identifier>,
    /// Prefix of the names of a database's tables.
    pub(super) prefix: String,
    pub(super) scopes: Scopes,
}

/// Reason for an import's failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(super) struct ImportFailure {
    /// Line in the file; null if unknown.
    #[schema(example = 17)]
    pub(super) line: Option<i64>,
    #[schema(example = "A row of `litebans_bans` has 18 values for 19 columns.")]
    pub(super) message: String,
}

/// An import.
#[derive(Clone, Debug)]
pub(super) struct Import {
    pub(super) network: NetworkId,
    pub(super) id: String,
    pub(super) kind: ImportKind,
    pub(super) dry_run: bool,
    pub(super) options: ImportOptions,
    /// Hash of the file.
    pub(super) sha256: String,
    pub(super) file_size: i64,
    pub(super) state: ImportState,
    /// Number of processed records.
    pub(super) done: i64,
    /// Number of records; none until known.
    pub(super) total: Option<i64>,
    pub(super) report: Report,
    pub(super) failure: Option<ImportFailure>,
    /// Key used for the upload.
    pub(super) key: KeyId,
    pub(super) created_at: Millis,
    pub(super) started_at: Option<Millis>,
    pub(super) finished_at: Option<Millis>,
}
