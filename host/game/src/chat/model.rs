//! Chat message.

use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::values::{Identifier, PlayerId, Text};

/// Text of 1 to 1,024 characters (Unicode scalar values) without control characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Message(String);

impl Message {
    const MAX_CHARS: usize = 1_024;

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }
}

impl TryFrom<String> for Message {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let characters = text.chars().count();
        if !(1..=Self::MAX_CHARS).contains(&characters) {
            return Err(format!("must be 1 to {} characters, not {characters}", Self::MAX_CHARS));
        }
        if text.chars().any(char::is_control) {
            return Err("must not contain control characters".to_owned());
        }
        Ok(Self(text))
    }
}

impl PartialSchema for Message {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .min_length(Some(1))
            .max_length(Some(Self::MAX_CHARS))
            .pattern(Some(r"^[^\u0000-\u001f\u007f-\u009f]*$"))
            .into()
    }
}
impl ToSchema for Message {}

/// Chat message, as sent to the hub and in the `CHAT` event.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChatMessage {
    pub(super) player_uuid: PlayerId,
    #[schema(example = "Steve")]
    pub(super) player_name: Identifier,
    #[schema(value_type = Message)]
    pub(super) message: Message,
    /// Server on which it was sent.
    #[schema(example = "lobby-1")]
    pub(super) server_id: Identifier,
    #[schema(example = "LOBBY")]
    pub(super) server_type: Option<Text<255>>,
    /// World in which it was sent.
    #[schema(example = "spawn")]
    pub(super) world: Option<Text<255>>,
    /// Prefix shown before the name.
    #[schema(example = "VIP")]
    pub(super) rank: Option<Text<255>>,
    #[schema(example = "#ffaa00")]
    pub(super) rank_color: Option<Text<255>>,
    pub(super) rank_bold: Option<bool>,
    /// True if the name also has the rank's color.
    pub(super) color_name_also: Option<bool>,
}

#[cfg(test)]
mod tests {
    use super::Message;

    #[test]
    fn a_message_is_counted_in_characters_and_has_no_control_characters() {
        let message = |text: &str| Message::try_from(text.to_owned());
        assert!(message("").is_err());
        assert!(message(" ").is_ok());
        assert!(message(&"😀".repeat(1_024)).is_ok());
        assert!(message(&"a".repeat(1_025)).is_err());
        for control in ["\n", "\r", "\t", "\u{7}", "\u{7f}", "\u{85}", "\u{1b}[31m"] {
            assert!(message(&format!("a{control}b")).is_err(), "{control:?}");
        }
        assert!(message("§cred, e\u{301}, עברית, \u{200d}").is_ok());
    }
}
