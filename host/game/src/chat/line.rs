//! Lines of the history.

use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::chat::model::{ChatMessage, Message};
use crate::clock::Millis;
use crate::modules::service::CallTrace;
use crate::values::{Identifier, PlayerId, Text};

/// Decision of the network's filter about a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Verdict {
    /// Sent as it was written.
    Sent,
    /// Sent with another text.
    Rewritten,
    /// Not sent.
    Refused,
}

/// Chat line with the decision about it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChatVerdict {
    /// Rises with time. Null if the network keeps no lines.
    #[schema(example = "1804680000000000")]
    pub(super) id: Option<String>,
    pub(super) player_uuid: PlayerId,
    #[schema(example = "Steve")]
    pub(super) player_name: Identifier,
    /// Text as it was sent, or refused.
    #[schema(value_type = Message, example = "Hello!")]
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
    pub(super) verdict: Verdict,
    /// Text before it was rewritten.
    #[schema(example = "Hell!")]
    pub(super) original: Option<String>,
    /// Module that decided, if only one did.
    #[schema(example = "chat-guard")]
    pub(super) module: Option<String>,
    #[schema(example = 3)]
    pub(super) version: Option<i64>,
    /// Call of the modules. Null if no module was called.
    #[schema(example = "4fTq0ZkX91ab4fTq")]
    pub(super) call_id: Option<String>,
}

/// Chat line of the history.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ChatLine {
    #[schema(example = 1_804_680_000_000_i64)]
    pub(super) at: Millis,
    #[serde(flatten)]
    pub(super) line: ChatVerdict,
}

impl ChatVerdict {
    /// The message, its text before it was rewritten, and what decided about it.
    pub(super) fn new(
        chat: ChatMessage,
        verdict: Verdict,
        original: Option<Message>,
        trace: Option<&CallTrace>,
        id: Option<i64>,
    ) -> Self {
        let (module, version) = trace.and_then(|trace| trace.module.clone()).unzip();
        Self {
            id: id.map(|id| id.to_string()),
            player_uuid: chat.player_uuid,
            player_name: chat.player_name,
            message: chat.message,
            server_id: chat.server_id,
            server_type: chat.server_type,
            world: chat.world,
            rank: chat.rank,
            rank_color: chat.rank_color,
            rank_bold: chat.rank_bold,
            color_name_also: chat.color_name_also,
            verdict,
            original: original.map(Message::into_string),
            module,
            version,
            call_id: trace.map(|trace| trace.call_id.clone()),
        }
    }

    /// Text for searching.
    pub(super) fn search_text(&self) -> String {
        let mut text = self.message.as_str().to_lowercase();
        if let Some(original) = &self.original {
            text.push('\n');
            text.push_str(&original.to_lowercase());
        }
        text
    }
}

/// Id of a line, which rises with time.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct ChatId(pub(super) i64);

impl TryFrom<String> for ChatId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let is_id = (1..=18).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        let id = if is_id { text.parse().ok() } else { None };
        id.map(Self).ok_or_else(|| "must be the id of a chat line".to_owned())
    }
}

impl PartialSchema for ChatId {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            // A blank one is as none.
            .pattern(Some(r"^\d{0,18}$"))
            .examples(["1804680000000000"])
            .into()
    }
}
impl ToSchema for ChatId {}
