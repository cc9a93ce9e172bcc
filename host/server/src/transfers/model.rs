//! What is ordered and what became of it.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use uuid::Uuid;

use crate::clock::Millis;
use crate::values::{Identifier, PlayerId};

/// How long a command is good, and with it the slot that is kept at the target.
pub(super) const GOOD_FOR: Millis = 30_000;

/// Names a transfer; the id of the match it follows, where it follows one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, sqlx::Type)]
#[serde(transparent)]
#[sqlx(transparent)]
pub(crate) struct TransferId(pub(crate) Uuid);

impl fmt::Display for TransferId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for TransferId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(|PlayerId(uuid)| Self(uuid)).map_err(de::Error::custom)
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

/// Who is to be sent where.
#[derive(Clone, Debug)]
pub(super) struct Order {
    pub(super) player: PlayerId,
    pub(super) to_server: Identifier,
    pub(super) to_world: Option<Identifier>,
}

/// Why a transfer did not come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    PlayerOffline,
    ServerNotFound,
    ServerOffline,
    AlreadyOnServer,
    Proxy,
    WorldNotFound,
    ServerFull,
    WorldFull,
    NotConnected,
}

impl Failure {
    /// The literal on the wire.
    pub(super) fn result(self) -> &'static str {
        match self {
            Self::PlayerOffline => "PLAYER_OFFLINE",
            Self::ServerNotFound => "SERVER_NOT_FOUND",
            Self::ServerOffline => "SERVER_OFFLINE",
            Self::AlreadyOnServer => "ALREADY_ON_SERVER",
            Self::Proxy => FAILED,
            Self::WorldNotFound => "WORLD_NOT_FOUND",
            Self::ServerFull | Self::WorldFull => "SERVER_FULL",
            Self::NotConnected => "NOT_CONNECTED",
        }
    }

    /// The reason, for a person.
    pub(super) fn sentence(self) -> &'static str {
        match self {
            Self::PlayerOffline => "The player is not online.",
            Self::ServerNotFound => "There is no such server.",
            Self::ServerOffline => "The target server is offline.",
            Self::AlreadyOnServer => "The player is on this server already.",
            Self::Proxy => "The target is a proxy, and nobody is sent to one.",
            Self::WorldNotFound => "The target server has no such world.",
            Self::ServerFull => "The target server is full.",
            Self::WorldFull => "The target world is full.",
            Self::NotConnected => "The player's server has no open event stream to take the command.",
        }
    }
}

/// The outcome of one that came to its good end.
pub(super) const SUCCESS: &str = "SUCCESS";
/// What a read shows while it is under way; no outcome.
pub(super) const PENDING: &str = "PENDING";
/// Nobody said how it ended while the command was good.
pub(super) const TIMEOUT: &str = "TIMEOUT";
/// It failed for another reason, which the message tells.
pub(super) const FAILED: &str = "FAILED";
/// What is told with [`TIMEOUT`].
pub(super) const TIMEOUT_SENTENCE: &str = "Nobody reported how it ended before the command expired.";

/// An outcome as a server reports it: an upper-case word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reported(pub(super) String);

impl<'de> Deserialize<'de> for Reported {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let fits = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        if text.is_empty() || text.len() > 64 || !text.bytes().all(fits) {
            return Err(de::Error::custom("must be 1 to 64 of the characters A-Z, 0-9 and _"));
        }
        if text == PENDING {
            return Err(de::Error::custom("PENDING is no outcome"));
        }
        Ok(Self(text))
    }
}

impl PartialSchema for Reported {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .max_length(Some(64))
            .pattern(Some("^[A-Z0-9_]+$"))
            .examples([SUCCESS])
            .into()
    }
}
impl ToSchema for Reported {}

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
    /// The transfer as it stands at `now`: one whose command has expired has timed out, noted or not.
    pub(super) fn at(mut self, now: Millis) -> Self {
        if self.ended_at.is_none() && self.expires_at <= now {
            self.result = Some(TIMEOUT.to_owned());
            self.error_message = Some(TIMEOUT_SENTENCE.to_owned());
            self.ended_at = Some(self.expires_at);
        }
        self
    }
}
