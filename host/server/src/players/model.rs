//! Players as the hub knows them.

use serde::{Deserialize, Deserializer, de};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::clock::Millis;
use crate::geo::{Place, Region};
use crate::values::{Identifier, PlayerId};

/// A player who was seen.
#[derive(Clone, Debug, sqlx::FromRow)]
#[allow(clippy::struct_field_names, reason = "as the table names its columns")]
pub(crate) struct Player {
    pub(super) player_uuid: PlayerId,
    /// None until a name was said.
    pub(super) username: Option<String>,
    pub(super) game_type: Option<String>,
    /// Where the player is routed from; unknown until an address could be located.
    #[sqlx(try_from = "String")]
    pub(super) region: Region,
    pub(super) country: Option<String>,
    pub(super) first_seen: Millis,
    pub(super) last_seen: Millis,
}

/// What is said of a player who is seen; what is none stays as it was.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sighting {
    pub(super) username: Option<Identifier>,
    /// Counts only where none is recorded yet.
    pub(super) game_type: Option<String>,
    pub(super) place: Option<Place>,
}

/// Which players are wanted; what is none does not count.
#[derive(Clone, Debug, Default)]
pub(super) struct Search {
    pub(super) region: Option<Region>,
    /// The whole name, in any case.
    pub(super) username: Option<String>,
    /// A part of the name, in any case.
    pub(super) text: Option<String>,
}

/// What a game keeps about a player in one namespace.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(super) struct Entry {
    pub(super) namespace: String,
    pub(super) data: String,
    pub(super) version: i64,
}

/// A name as names are compared: without case.
pub(super) fn folded(name: &str) -> String {
    name.to_lowercase()
}

/// A text that is JSON, kept as it was sent.
#[derive(Clone, Debug)]
pub(super) struct JsonText(String);

impl JsonText {
    /// The largest, in bytes.
    pub(super) const LIMIT: usize = 256 * 1024;

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }
}

impl<'de> Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        // One that is too large is told so, whatever is in it.
        if text.len() <= Self::LIMIT {
            serde_json::from_str::<de::IgnoredAny>(&text)
                .map_err(|error| de::Error::custom(format_args!("must be the text of one JSON value: {error}")))?;
        }
        Ok(Self(text))
    }
}

impl PartialSchema for JsonText {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::String).examples([r#"{"coins":5}"#]).into()
    }
}
impl ToSchema for JsonText {}
