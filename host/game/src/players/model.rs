//! Players in the database and in requests.

use std::net::IpAddr;

use serde::{Deserialize, Deserializer, Serialize, de};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::clock::Millis;
use crate::economy::Balance;
use crate::geo::{GeoLocation, Region};
use crate::values::{Identifier, Label, PlayerId};

/// A player who was seen.
#[derive(Clone, Debug, sqlx::FromRow)]
#[allow(clippy::struct_field_names, reason = "as the table names its columns")]
pub(super) struct Player {
    pub player_uuid: PlayerId,
    /// None until a name is reported.
    pub username: Option<String>,
    pub(crate) game_type: Option<String>,
    /// Unknown until an address is located.
    #[sqlx(try_from = "String")]
    pub region: Region,
    pub country: Option<String>,
    pub(crate) first_seen: Millis,
    pub last_seen: Millis,
}

/// Changes of a player who is seen; a field that is none keeps its value.
#[derive(Clone, Debug, Default)]
pub(super) struct PlayerUpdate {
    pub(super) username: Option<Identifier>,
    /// Ignored if an engine is already recorded.
    pub(super) game_type: Option<String>,
    pub(super) location: Option<GeoLocation>,
}

/// Input of a connector when a player connects.
#[derive(Debug)]
pub(crate) struct LoadRequest {
    pub username: Option<Identifier>,
    pub(crate) game_type: Option<String>,
    pub ip: Option<IpAddr>,
}

/// Filter of a list of players; a field that is none matches all.
#[derive(Clone, Debug, Default)]
pub(super) struct PlayerFilter {
    pub(super) region: Option<Region>,
    /// Whole name, case-insensitive.
    pub(super) username: Option<String>,
    /// Part of the name, case-insensitive.
    pub(super) name_part: Option<String>,
}

/// A player with their stored data.
#[derive(Debug)]
pub(crate) struct Profile {
    pub player: Player,
    pub currencies: Vec<Balance>,
    /// Namespaces of one game mode.
    pub namespaces: Vec<NamespaceData>,
}

/// Key of a player's data.
#[derive(Clone, Debug)]
pub(super) struct DataKey {
    pub(super) player: PlayerId,
    pub(super) game_mode: Label,
    pub(super) namespace: Label,
}

/// A namespace's data in a profile.
#[derive(Clone, Debug, Serialize, ToSchema, sqlx::FromRow)]
pub(super) struct NamespaceData {
    #[schema(example = "inventory")]
    pub namespace: String,
    /// JSON text as written.
    #[schema(example = r#"{"coins":5}"#)]
    pub data: String,
    #[schema(example = 3)]
    pub version: i64,
}

/// A name in its form for comparisons: without case.
pub(super) fn fold_case(name: &str) -> String {
    name.to_lowercase()
}

/// A text that is JSON, stored byte for byte.
#[derive(Clone, Debug)]
pub(super) struct JsonText(String);

impl JsonText {
    /// Maximum size in bytes.
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
        // A text over the limit passes unparsed: the service refuses it with a separate error.
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
