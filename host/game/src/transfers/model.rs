//! Transfers and their outcomes.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use strum::AsRefStr;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use uuid::Uuid;

use crate::clock::Millis;
use crate::text_type::{deserialize_text, text_type};
use crate::values::{Identifier, PlayerId};

/// Validity of a command and of the slot reserved at the target, in milliseconds.
pub(super) const COMMAND_TTL: Millis = 30_000;

/// Id of a transfer, equal to that of the match it follows, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, sqlx::Type)]
#[serde(transparent)]
#[sqlx(transparent)]
pub(super) struct TransferId(pub(super) Uuid);

impl fmt::Display for TransferId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for TransferId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_text(deserializer).map(|PlayerId(uuid)| Self(uuid))
    }
}

impl PartialSchema for TransferId {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Uuid)))
            .examples(["0b0cbd8c-8d1f-4c1e-a3c5-6a4f1cbf8c5e"])
            .into()
    }
}
impl ToSchema for TransferId {}

/// Player and target of a transfer.
#[derive(Clone, Debug)]
pub(super) struct TransferOrder {
    pub(super) player: PlayerId,
    pub(super) to_server: Identifier,
    pub(super) to_world: Option<Identifier>,
}

/// Reason for an impossible transfer; its text is the result on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, AsRefStr)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub(super) enum Failure {
    PlayerOffline,
    ServerNotFound,
    ServerOffline,
    AlreadyOnServer,
    #[strum(serialize = "FAILED")]
    Proxy,
    WorldNotFound,
    ServerFull,
    #[strum(serialize = "SERVER_FULL")]
    WorldFull,
    NotConnected,
}

impl Failure {
    /// Human-readable reason.
    pub(super) fn message(self) -> &'static str {
        match self {
            Self::PlayerOffline => "The player is not online.",
            Self::ServerNotFound => "No such server.",
            Self::ServerOffline => "The target server is offline.",
            Self::AlreadyOnServer => "The player is already on this server.",
            Self::Proxy => "The target is a proxy, which is never a destination.",
            Self::WorldNotFound => "The target server has no such world.",
            Self::ServerFull => "The target server is full.",
            Self::WorldFull => "The target world is full.",
            Self::NotConnected => "The player's server has no open event stream for the command.",
        }
    }
}

/// Outcome of a successful transfer.
pub(super) const SUCCESS: &str = "SUCCESS";
/// Result shown while a transfer is pending; not an outcome.
pub(super) const PENDING: &str = "PENDING";
/// Outcome if none was reported while the command was valid.
pub(super) const TIMEOUT: &str = "TIMEOUT";
/// Outcome of a failure that only the message explains.
pub(super) const FAILED: &str = "FAILED";
/// Message of [`TIMEOUT`].
pub(super) const TIMEOUT_MESSAGE: &str = "No outcome was reported before the command expired.";

text_type! {
    /// An outcome reported by a server: an upper-case word.
    pub(super) struct Reported;
    check: |text| {
        let fits = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        if text.is_empty() || text.len() > 64 || !text.bytes().all(fits) {
            return Err("must be 1 to 64 of the characters A-Z, 0-9 and _");
        }
        if text == PENDING { Err("PENDING is not an outcome") } else { Ok(()) }
    };
    schema: |text| text.max_length(Some(64)).pattern(Some("^[A-Z0-9_]+$")).examples([SUCCESS]);
}

/// A transfer's row.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct Transfer {
    pub(super) id: TransferId,
    pub(super) player_uuid: PlayerId,
    pub(super) from_server: Option<Identifier>,
    pub(super) to_server: Identifier,
    pub(super) to_world: Option<Identifier>,
    pub(super) result: Option<String>,
    pub(super) error_message: Option<String>,
    pub(super) created_at: Millis,
    pub(super) expires_at: Millis,
    pub(super) ended_at: Option<Millis>,
}

impl Transfer {
    /// The transfer at `now`: timed out if its command has expired, even if that is not recorded yet.
    pub(super) fn with_timeout(mut self, now: Millis) -> Self {
        if self.ended_at.is_none() && self.expires_at <= now {
            self.result = Some(TIMEOUT.to_owned());
            self.error_message = Some(TIMEOUT_MESSAGE.to_owned());
            self.ended_at = Some(self.expires_at);
        }
        self
    }
}
