//! Imports.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::auth::KeyId;
use crate::clock::Millis;
use crate::imports::report::Report;
use crate::values::{Identifier, NetworkId};

/// Which tool a file comes from.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, strum::EnumString, strum::IntoStaticStr,
)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE", ascii_case_insensitive)]
pub(super) enum ImportKind {
    /// LuckPerms' export.
    LuckPerms,
    /// LiteBans' database.
    LiteBans,
    /// `EssentialsX`' user files, or a table of balances.
    Balances,
}

/// How far an import is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, strum::EnumString, strum::IntoStaticStr,
)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE")]
pub(super) enum ImportState {
    /// It waits to begin.
    Queued,
    /// The file is being read or written.
    Running,
    /// It is complete.
    Done,
    /// It ended with an error. Where `done` is above 0, so much of it is written.
    Failed,
    /// It was cancelled. What was written stays.
    Cancelled,
}

/// What becomes of punishments for a single server, which the hub does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::EnumString)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE", ascii_case_insensitive)]
pub(super) enum Scopes {
    /// They are skipped.
    #[default]
    Skip,
    /// They count everywhere.
    Everywhere,
}

/// How a file is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ImportOptions {
    /// The currency of balances.
    pub(super) currency: Option<Identifier>,
    /// What LiteBans' tables begin with.
    pub(super) prefix: String,
    pub(super) scopes: Scopes,
}

/// Why an import failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(super) struct ImportFailure {
    /// The line of the file; null where it has none.
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
    /// The hash of the file.
    pub(super) sha256: String,
    pub(super) file_size: i64,
    pub(super) state: ImportState,
    /// How many records are done.
    pub(super) done: i64,
    /// How many there are; none until that is known.
    pub(super) total: Option<i64>,
    pub(super) report: Report,
    pub(super) failure: Option<ImportFailure>,
    /// The key that it was uploaded with.
    pub(super) key: KeyId,
    pub(super) created_at: Millis,
    pub(super) started_at: Option<Millis>,
    pub(super) finished_at: Option<Millis>,
}
